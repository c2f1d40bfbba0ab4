/** The end of a turn: how it went, what it cost, and where to go from here. */
import type { Message, Turn } from '@atrium/protocol/ahp-1';
import { TurnChanges } from '../changes/turn-changes.js';
import { useOpenSession } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { forkFrom, messageOf, resumeTurn, startTurn } from '../host/turns.js';
import { useStore } from '../model/store.js';
import { usageText } from '../model/usage.js';
import { CopyButton } from '../ui/copy-button.js';
import { Icon } from '../ui/icons.js';

export function TurnEnd({ turn }: { readonly turn: Turn }) {
  const session = useOpenSession();
  const answer = answerOf(turn);
  return (
    <footer className="turn-end">
      {turn.state === 'error' && <TurnError turn={turn} />}
      {turn.state === 'cancelled' && <p className="cancelled">Stopped</p>}
      <div className="row-actions">
        {isAtrium(session.client) && (
          <button type="button" className="quiet small" onClick={() => void forkFrom(session, turn.id)}>
            <Icon name="fork" /> Fork from here
          </button>
        )}
        {answer !== '' && <CopyButton text={answer} what="answer" />}
        <TurnChanges turn={turn} />
        {turn.usage && <span className="usage">{usageText(turn.usage)}</span>}
      </div>
    </footer>
  );
}

/** What the agent said, as it wrote it. */
function answerOf({ responseParts }: Turn): string {
  return responseParts.flatMap((part) => (part.kind === 'markdown' ? [part.content] : [])).join('\n\n');
}

function TurnError({ turn }: { readonly turn: Turn }) {
  const session = useOpenSession();
  const { chat } = useStore(session.view);
  const part = turn.responseParts.at(-1);
  const { error, resumable = false } = part?.kind === 'error' ? part : {};
  const { errorType = 'error', message = 'The agent gave no reason.' } = error ?? {};
  const isLast = chat.activeTurn === undefined && chat.turns.at(-1)?.id === turn.id;
  return (
    <div className="turn-error" role="alert">
      <p>
        <b>This turn failed.</b> {message}
      </p>
      <p className="hint">{adviceFor(errorType)}</p>
      <div className="buttons">
        {resumable && isLast && (
          <button
            type="button"
            className="small primary"
            title="It goes on where it was cut off; what it has done stays done"
            onClick={() => resumeTurn(session, turn.id)}
          >
            Resume
          </button>
        )}
        <button type="button" className="small" onClick={() => startTurn(session, againOf(turn.message))}>
          Try again
        </button>
      </div>
    </div>
  );
}

/** The same words, said by the person who repeats them. */
function againOf({ text, attachments, model, agent }: Message): Message {
  return messageOf({ text, ...(attachments && { attachments }), model, agent });
}

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/auth|credential|key|401|403/i, 'Check the key or the sign-in of this agent on the machine where the host runs.'],
  [/rate|quota|429|overload/i, 'The model server asks for patience. Wait a minute, then try again.'],
  [
    /network|connect|timeout|unreachable|fetch/i,
    'The host could not reach the model. Check its network, then try again.',
  ],
  [
    /context|length|too.?long/i,
    'The conversation is too long for the model. Fork from an earlier turn, or start anew.',
  ],
  [/restart|interrupt|crash/i, 'The host stopped in the middle of it. Nothing else is lost; try again.'],
];

function adviceFor(errorType: string): string {
  return ADVICE.find(([pattern]) => pattern.test(errorType))?.[1] ?? `Kind of error: ${errorType}.`;
}
