/** SessionConfig of a question: one or several, and a line for something else where that is allowed. */
import type { SessionInputOption } from '@atrium/protocol';
import { useId } from 'react';
import { VisibleText } from '../ui/visible-text.js';
import { DraftInput } from './draft-input.js';

/** Something that is not among the choices, as the protocol names it. */
interface Own {
  readonly freeformValues?: string[];
}

interface Props {
  readonly name: string;
  readonly options: readonly SessionInputOption[];
  readonly chosen: readonly string[];
  readonly isMany?: boolean;
  /** Absent: only the choices. */
  readonly freeform?: string | undefined;
  readonly onChange: (chosen: readonly string[], own: Own) => void;
}

export function SessionConfig({ name, options, chosen, isMany = false, freeform, onChange }: Props) {
  const id = useId();
  const own = ownOf(freeform ?? '');
  const toggle = (option: string, isOn: boolean) => {
    if (!isMany) return onChange([option], own);
    onChange(isOn ? [...chosen, option] : chosen.filter((each) => each !== option), own);
  };
  return (
    <div className="options">
      {options.map(({ id: option, label, description, recommended }) => (
        <label key={option} className="option">
          <input
            type={isMany ? 'checkbox' : 'radio'}
            name={name}
            checked={chosen.includes(option)}
            onChange={(event) => toggle(option, event.target.checked)}
          />
          <span>
            <VisibleText text={label} />
            {recommended && <span className="tag">recommended</span>}
            {description && (
              <span className="hint">
                <VisibleText text={description} />
              </span>
            )}
          </span>
        </label>
      ))}
      {freeform !== undefined && (
        <label className="option own" htmlFor={id}>
          <span>Something else</span>
          <DraftInput id={id} value={freeform} onChange={(words) => onChange(chosen, ownOf(words))} />
        </label>
      )}
    </div>
  );
}

function ownOf(words: string): Own {
  return words === '' ? {} : { freeformValues: [words] };
}
