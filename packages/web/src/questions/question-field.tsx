/** One question with the field that fits it. */
import type { SessionInputAnswer, SessionInputAnswerValue, SessionInputQuestion } from '@atrium/protocol';
import { useId } from 'react';
import { VisibleText } from '../ui/visible-text.js';
import { draft } from './answers.js';
import { SessionConfig } from './choices.js';
import { DraftInput } from './draft-input.js';

interface Props {
  readonly question: SessionInputQuestion;
  readonly answer: SessionInputAnswerValue | undefined;
  readonly isMissing: boolean;
  readonly onChange: (answer: SessionInputAnswer | undefined) => void;
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
        <SessionConfig
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
        <SessionConfig
          name={id}
          options={question.options}
          chosen={answer?.kind === 'selected' ? [answer.value] : []}
          freeform={question.allowFreeformInput ? freeformOf(answer) : undefined}
          onChange={([value = ''], own) => onChange(draft({ kind: 'selected', value, ...own }))}
        />
      )}
      {question.kind === 'multi-select' && (
        <SessionConfig
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

function freeformOf(answer: SessionInputAnswerValue | undefined): string {
  return answer && 'freeformValues' in answer ? (answer.freeformValues?.[0] ?? '') : '';
}
