/** A tool call, from the first letter of its input to its result. */
import type { ToolCallState } from '@atrium/protocol';
import { memo, useState } from 'react';
import { Words } from '../markdown/markdown.js';
import { Confirmation } from './confirmation.js';
import { ResultConfirmation } from './result-confirmation.js';
import { ToolBody } from './tool-body.js';
import { stateWord, toolMessage } from './tool-words.js';

interface Props {
  readonly call: ToolCallState;
  readonly turnId: string;
  readonly isActive: boolean;
}

export const ToolCall = memo(({ call, turnId, isActive }: Props) => {
  const [choice, setChoice] = useState<boolean>();
  const isAsking =
    isActive && (call.status === 'pending-confirmation' || call.status === 'pending-result-confirmation');
  const isShown = choice ?? (isAsking || (isActive && call.status === 'running') || hasFailed(call));
  const word = stateWord(call, isActive);
  return (
    <article className={`tool-call ${call.status} ${isAsking ? 'asking' : ''} ${hasFailed(call) ? 'failed' : ''}`}>
      <button type="button" className="tool-head" aria-expanded={isShown} onClick={() => setChoice(!isShown)}>
        <span className={`tool-mark ${call.status}`} aria-hidden="true" />
        <span className="tool-name">{call.displayName}</span>
        <span className="tool-message">
          <Words text={toolMessage(call)} />
        </span>
        <span className="tool-state">{word}</span>
      </button>
      {isShown && <ToolBody call={call} />}
      {isActive && call.status === 'pending-confirmation' && <Confirmation call={call} turnId={turnId} />}
      {isActive && call.status === 'pending-result-confirmation' && <ResultConfirmation call={call} turnId={turnId} />}
    </article>
  );
});

function hasFailed(call: ToolCallState): boolean {
  return call.status === 'completed' && !call.success;
}
