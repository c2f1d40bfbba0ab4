/**
 * Messages that wait: the one that steers, and those for later, in the order in which they will be sent. After a turn
 * that was stopped or failed they wait for a person, who may have changed their mind.
 */
import type { PendingMessage, PendingMessageKind, SessionState } from '@atrium/protocol';
import type { OpenSession } from '../host/open-session.js';
import { startPending } from '../host/turns.js';
import { IconButton } from '../ui/icons.js';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
}

export function PendingMessages({ session, state }: Props) {
  const { steeringMessage, queuedMessages = [] } = state;
  const next = steeringMessage ?? queuedMessages[0];
  if (!next) return null;
  const isHeld = state.activeTurn === undefined && state.lifecycle === 'ready';
  const ids = queuedMessages.map(({ id }) => id);
  const toFront = (first: string) =>
    session.dispatch({
      type: 'session/queuedMessagesReordered',
      order: [first, ...ids.filter((id) => id !== first)],
    });
  return (
    <section className="pending" aria-label="Messages that wait">
      {isHeld && <Held state={state} onSend={() => startPending(session, next)} />}
      <ul aria-label="Waiting messages">
        {steeringMessage && (
          <Pending session={session} kind="steering" message={steeringMessage} tag={isHeld ? 'Waits' : 'Steering'} />
        )}
        {queuedMessages.map((message, index) => (
          <Pending
            key={message.id}
            session={session}
            kind="queued"
            message={message}
            tag={isHeld ? 'Waits' : 'Queued'}
            onFirst={index === 0 ? undefined : () => toFront(message.id)}
          />
        ))}
      </ul>
    </section>
  );
}

const REASONS = { complete: '', cancelled: 'the last turn was stopped', error: 'the last turn failed' } as const;

function Held({ state, onSend }: { readonly state: SessionState; readonly onSend: () => void }) {
  const last = state.turns.at(-1)?.state ?? 'complete';
  const isOne = !(state.steeringMessage && state.queuedMessages) && (state.queuedMessages?.length ?? 1) === 1;
  return (
    <p className="held" role="status">
      <span>
        <b>Not sent yet{REASONS[last] && `: ${REASONS[last]}`}.</b>{' '}
        {isOne ? 'This message waits for you.' : 'These messages wait for you.'}
      </span>
      <button type="button" className="primary small" onClick={onSend}>
        {isOne ? 'Send it' : 'Send them'}
      </button>
    </p>
  );
}

interface PendingProps {
  readonly session: OpenSession;
  readonly kind: PendingMessageKind;
  readonly message: PendingMessage;
  readonly tag: string;
  readonly onFirst?: (() => void) | undefined;
}

function Pending({ session, kind, message, tag, onFirst }: PendingProps) {
  const { id, userMessage } = message;
  return (
    <li>
      <span className="tag">{tag}</span>
      <span className="text" title={userMessage.text}>
        {userMessage.text}
      </span>
      {onFirst && (
        <button type="button" className="quiet small" onClick={onFirst}>
          First
        </button>
      )}
      <IconButton
        icon="close"
        label="Take back"
        onClick={() => session.dispatch({ type: 'session/pendingMessageRemoved', kind, id })}
      />
    </li>
  );
}
