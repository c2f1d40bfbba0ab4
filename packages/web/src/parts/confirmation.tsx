/**
 * The question whether a call may run. Options that the host offers take the place of plain yes and no. Whoever answers
 * first decides, on whatever device.
 */
import type { ConfirmationOption, ToolCallPendingConfirmationState } from '@atrium/protocol';
import { useState } from 'react';
import { useOpenSession } from '../host/context.js';
import { Words } from '../markdown/markdown.js';
import { AutoText } from '../ui/auto-text.js';
import { answerAction, optionsOf } from './answer.js';

interface Props {
  readonly call: ToolCallPendingConfirmationState;
  readonly turnId: string;
}

export function Confirmation({ call, turnId }: Props) {
  const session = useOpenSession();
  const [input, setInput] = useState(call.toolInput ?? '');
  const [advice, setAdvice] = useState<string>();
  const options = optionsOf(call);
  const deny = options.find(({ kind }) => kind === 'deny');
  const answer = (option: ConfirmationOption) =>
    session.dispatch(answerAction({ call, turnId, option, input, advice: advice ?? '' }));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out like this in every browser
    <div className="confirmation" role="group" aria-label="Permission">
      <p className="question">
        <Words text={call.confirmationTitle ?? `Let ${call.displayName} run?`} />
      </p>
      {call.editable && <AutoText className="mono" label="Input of the tool" value={input} onChange={setInput} />}
      {advice !== undefined && (
        <AutoText
          label="What to do instead"
          placeholder="What should it do instead? Enter denies the call and says so."
          value={advice}
          onChange={setAdvice}
          onEnter={() => deny && answer(deny)}
        />
      )}
      <div className="buttons">
        {options.map((option, index) => (
          <button
            key={option.id}
            type="button"
            className={index === 0 && option.kind === 'approve' ? 'primary' : ''}
            data-answer={option.kind}
            onClick={() => answer(option)}
          >
            {option.label}
          </button>
        ))}
        {advice === undefined && deny && (
          <button type="button" className="quiet" onClick={() => setAdvice('')}>
            Deny with advice
          </button>
        )}
      </div>
    </div>
  );
}
