/** Shows the input of a tool, and lets a person edit it before the tool runs. */
import { isVisible, toolInputMembers } from '@atrium/protocol/ahp-1';
import { AutoText } from '../ui/auto-text.js';
import { VisibleLines, VisibleText } from '../ui/visible-text.js';
import { withMember } from './answer.js';
import { isReadable } from './reading.js';

export function InputView({ input }: { readonly input: string }) {
  const members = toolInputMembers(input);
  if (members.length === 0) return null;
  return (
    <dl className="tool-input" tabIndex={0}>
      {members.map(({ name, text }) => (
        <div key={name}>
          {name !== '' && (
            <dt>
              <VisibleText text={name} />
            </dt>
          )}
          <dd>{isReadable(text) ? <VisibleText text={text} mode="lines" /> : text}</dd>
        </div>
      ))}
    </dl>
  );
}

interface EditorProps {
  readonly input: string;
  readonly onChange: (input: string) => void;
}

/**
 * One field for each text; numbers, lists and the like stay unchanged. Without any text, one field for the whole input.
 */
export function InputEditor({ input, onChange }: EditorProps) {
  const texts = toolInputMembers(input).filter(({ isText }) => isText);
  if (texts.length === 0) return <AutoText className="mono" label="Input" value={input} onChange={onChange} />;
  const hidden = texts.filter(({ text }) => !isVisible(text, 'lines'));
  return (
    <div className="input-editor">
      {texts.map(({ name, text }) => (
        <div key={name}>
          {name !== '' && <p className="hint">{name}</p>}
          <AutoText
            className="mono"
            label={name || 'Input'}
            value={text}
            onChange={(value) => onChange(withMember(input, name, value))}
          />
        </div>
      ))}
      {hidden.map(({ name, text }) => (
        <div key={name} className="tool-input is-whole">
          <p className="hint">With characters that the field above cannot show:</p>
          <VisibleLines text={text} />
        </div>
      ))}
    </div>
  );
}
