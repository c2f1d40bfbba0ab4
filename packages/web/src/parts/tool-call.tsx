/** A tool call, from the first letter of its input to its result: one quiet line, unless it runs or asks. */
import type { ToolCallState } from '@atrium/protocol';
import { memo, useState } from 'react';
import { Words } from '../markdown/markdown.js';
import { Icon, type IconName } from '../ui/icons.js';
import { Confirmation } from './confirmation.js';
import { ResultConfirmation } from './result-confirmation.js';
import { ToolBody } from './tool-body.js';
import { type CallLook, editCount, failureOf, lookOf, stateWord, toolMessage } from './tool-words.js';

interface Props {
  readonly call: ToolCallState;
  readonly turnId: string;
  readonly isActive: boolean;
}

const MARKS: Readonly<Record<CallLook, IconName>> = {
  asking: 'hand',
  busy: 'ring',
  done: 'check',
  failed: 'close',
  ended: 'stop',
};

export const ToolCall = memo(({ call, turnId, isActive }: Props) => {
  const [choice, setChoice] = useState<boolean>();
  const look = lookOf(call, isActive);
  const isShown = choice ?? (look === 'asking' || (look === 'busy' && call.status === 'running'));
  const failure = failureOf(call);
  const count = editCount(call);
  return (
    <article className={`tool-call is-${look} ${isShown ? 'is-open' : 'is-folded'}`}>
      <button type="button" className="tool-head" aria-expanded={isShown} onClick={() => setChoice(!isShown)}>
        <span className="tool-mark">
          <Icon name={MARKS[look]} />
        </span>
        <span className="tool-name">{call.displayName}</span>
        <span className="tool-message">
          <Words text={toolMessage(call)} />
        </span>
        {count && (
          <span className="tool-count">
            {count.added > 0 && <span className="added">+{count.added}</span>}{' '}
            {count.removed > 0 && <span className="removed">−{count.removed}</span>}
          </span>
        )}
        <span className="tool-state">{stateWord(call, isActive)}</span>
      </button>
      {!isShown && failure !== '' && <p className="tool-failure">{failure}</p>}
      {isShown && <ToolBody call={call} />}
      {isActive && call.status === 'pending-confirmation' && <Confirmation call={call} turnId={turnId} />}
      {isActive && call.status === 'pending-result-confirmation' && <ResultConfirmation call={call} turnId={turnId} />}
    </article>
  );
});
