/**
 * Messages that wait: the steering one, and the queued ones, in their order. After a stopped or failed turn they wait
 * for a
 * person, who may have changed their mind.
 */
import type { ChatState, PendingMessage, PendingMessageKind } from '@atrium/protocol/ahp-1';
import type { OpenSession } from '../host/open-session.js';
import { startPending } from '../host/turns.js';
import { IconButton } from '../ui/icons.js';

interface Props {
  readonly session: OpenSession;
  readonly chat: ChatState;
  /** The agent has started. */
  readonly isReady: boolean;
}

export function PendingMessages({ session, chat, isReady }: Props) {
  const { steeringMessage, queuedMessages = [] } = chat;
  const next = steeringMessage ?? queuedMessages[0];
  if (!next) return null;
  const isHeld = chat.activeTurn === undefined && isReady;
  const ids = queuedMessages.map(({ id }) => id);
  const toFront = (first: string) =>
    session.dispatch({
      type: 'chat/queuedMessagesReordered',
      order: [first, ...ids.filter((id) => id !== first)],
    });
  return (
    <section className="pending" aria-label="Messages that wait">
      {isHeld && <Held chat={chat} onSend={() => startPending(session, next)} />}
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

function Held({ chat, onSend }: { readonly chat: ChatState; readonly onSend: () => void }) {
  const last = chat.turns.at(-1)?.state ?? 'complete';
  const isOne = !(chat.steeringMessage && chat.queuedMessages) && (chat.queuedMessages?.length ?? 1) === 1;
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
  const { id, message: said } = message;
  return (
    <li>
      <span className="tag">{tag}</span>
      <span className="text" title={said.text}>
        {said.text}
        {said.attachments && <span className="hint"> + {said.attachments.map(({ label }) => label).join(', ')}</span>}
      </span>
      {onFirst && (
        <button type="button" className="quiet small" onClick={onFirst}>
          First
        </button>
      )}
      <IconButton
        icon="close"
        label="Take back"
        onClick={() => session.dispatch({ type: 'chat/pendingMessageRemoved', kind, id })}
      />
    </li>
  );
}
