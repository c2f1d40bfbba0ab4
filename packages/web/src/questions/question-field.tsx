/** One question with the field that fits it. */
import type { ChatInputAnswer, ChatInputAnswerValue, ChatInputOption, ChatInputQuestion } from '@atrium/protocol/ahp-1';
import { useEffect, useId, useRef, useState } from 'react';
import { VisibleText } from '../ui/visible-text.js';
import { draft } from './answers.js';

interface Props {
  readonly question: ChatInputQuestion;
  readonly answer: ChatInputAnswerValue | undefined;
  readonly isMissing: boolean;
  readonly onChange: (answer: ChatInputAnswer | undefined) => void;
}

export function QuestionField({ question, answer, isMissing, onChange }: Props) {
  const id = useId();
  const { title, message, required } = question;
  const text = answer?.kind === 'text' || answer?.kind === 'number' ? String(answer.value) : '';
  const isNumber = question.kind === 'number' || question.kind === 'integer';
  const typed = (words: string) => {
    if (words === '') return onChange(undefined);
    const value = Number(words);
    if (!isNumber) return onChange(draft({ kind: 'text', value: words }));
    if (Number.isFinite(value)) onChange(draft({ kind: 'number', value }));
  };
  const isTyped = question.kind === 'text' || isNumber;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out like this in every browser
    <div className="question-field" role="group" aria-labelledby={`${id}-label`}>
      {title && (
        <p className="question-title">
          <VisibleText text={title} />
        </p>
      )}
      <label id={`${id}-label`} htmlFor={isTyped ? id : undefined}>
        <VisibleText text={message} mode="lines" />
        {required && <span className="hint"> (required)</span>}
      </label>
      {isTyped && <DraftInput id={id} value={text} isNumber={isNumber} onChange={typed} />}
      {question.kind === 'boolean' && (
        <OptionList
          name={id}
          options={[
            { id: 'yes', label: 'Yes' },
            { id: 'no', label: 'No' },
          ]}
          chosen={answer?.kind === 'boolean' ? [answer.value ? 'yes' : 'no'] : []}
          onChange={([choice]) => onChange(draft({ kind: 'boolean', value: choice === 'yes' }))}
        />
      )}
      {question.kind === 'single-select' && (
        <OptionList
          name={id}
          options={question.options}
          chosen={answer?.kind === 'selected' ? [answer.value] : []}
          freeform={question.allowFreeformInput ? freeformOf(answer) : undefined}
          onChange={([value = ''], own) => onChange(draft({ kind: 'selected', value, ...own }))}
        />
      )}
      {question.kind === 'multi-select' && (
        <OptionList
          name={id}
          isMany
          options={question.options}
          chosen={answer?.kind === 'selected-many' ? answer.value : []}
          freeform={question.allowFreeformInput ? freeformOf(answer) : undefined}
          onChange={(value, own) => onChange(draft({ kind: 'selected-many', value: [...value], ...own }))}
        />
      )}
      {isMissing && (
        <p className="problem" role="alert">
          This needs an answer.
        </p>
      )}
    </div>
  );
}

function freeformOf(answer: ChatInputAnswerValue | undefined): string {
  return answer && 'freeformValues' in answer ? (answer.freeformValues?.[0] ?? '') : '';
}

/** An answer that is not among the choices, as the protocol names it. */
interface Own {
  readonly freeformValues?: string[];
}

interface OptionListProps {
  readonly name: string;
  readonly options: readonly ChatInputOption[];
  readonly chosen: readonly string[];
  readonly isMany?: boolean;
  /** Absent: only the choices are allowed. */
  readonly freeform?: string | undefined;
  readonly onChange: (chosen: readonly string[], own: Own) => void;
}

/** The choices of a question: one or several, and a line for another answer if that is allowed. */
function OptionList({ name, options, chosen, isMany = false, freeform, onChange }: OptionListProps) {
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

/** Others see typed text at most this much later. */
const SYNC_MS = 250;

interface DraftInputProps {
  readonly id: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly isNumber?: boolean;
}

/**
 * A line of text that several people may edit. With the focus it shows the text typed here; otherwise the latest text
 * of the
 * others.
 */
function DraftInput({ id, value, onChange, isNumber = false }: DraftInputProps) {
  const [own, setOwn] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const send = (text: string) => {
    clearTimeout(timer.current);
    if (text !== value) onChange(text);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      id={id}
      type={isNumber ? 'number' : 'text'}
      value={own ?? value}
      onFocus={() => setOwn(value)}
      onChange={({ target }) => {
        setOwn(target.value);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => onChange(target.value), SYNC_MS);
      }}
      onBlur={({ target }) => {
        send(target.value);
        setOwn(undefined);
      }}
      onKeyDown={(event) => event.key === 'Enter' && send(event.currentTarget.value)}
    />
  );
}
