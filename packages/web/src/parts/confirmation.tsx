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
import { InputEditor } from './input-view.js';

interface Props {
  readonly call: ToolCallPendingConfirmationState;
  readonly turnId: string;
}

export function Confirmation({ call, turnId }: Props) {
  const session = useOpenSession();
  /** The input as somebody changed it; absent while nobody does. */
  const [edited, setEdited] = useState<string>();
  const [advice, setAdvice] = useState<string>();
  const options = optionsOf(call);
  const deny = options.find(({ kind }) => kind === 'deny');
  const input = edited ?? call.toolInput ?? '';
  const answer = (option: ConfirmationOption) =>
    session.dispatch(answerAction({ call, turnId, option, input, advice: advice ?? '' }));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out like this in every browser
    <div className="confirmation" role="group" aria-label="Permission">
      <p className="question">
        <Words text={call.confirmationTitle ?? `Let ${call.displayName} run?`} />
      </p>
      {edited !== undefined && <InputEditor input={edited} onChange={setEdited} />}
      {advice !== undefined && (
        <AutoText
          label="What to do instead"
          placeholder="What should it do instead? Enter denies the call and says so."
          isFocused
          value={advice}
          onChange={setAdvice}
          onEnter={() => deny && answer(deny)}
        />
      )}
      <div className="buttons">
        {options.map((option, index) => (
          <AnswerButton key={option.id} option={option} isFirst={index === 0} onClick={() => answer(option)} />
        ))}
        {call.editable && edited === undefined && (
          <button type="button" className="quiet" onClick={() => setEdited(call.toolInput ?? '')}>
            Edit input
          </button>
        )}
        {advice === undefined && deny && (
          <button type="button" className="quiet" onClick={() => setAdvice('')}>
            Deny with advice
          </button>
        )}
      </div>
    </div>
  );
}

interface AnswerProps {
  readonly option: ConfirmationOption;
  readonly isFirst: boolean;
  readonly onClick: () => void;
}

const KEYS = { approve: 'Alt+Y', deny: 'Alt+N' } as const;

function AnswerButton({ option: { kind, label }, isFirst, onClick }: AnswerProps) {
  return (
    <button
      type="button"
      className={isFirst && kind === 'approve' ? 'primary' : ''}
      data-answer={kind}
      title={`${label} (${KEYS[kind]} takes the first of its kind)`}
      onClick={onClick}
    >
      {label}
    </button>
  );
}
