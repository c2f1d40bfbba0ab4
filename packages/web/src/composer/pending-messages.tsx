/** Messages that wait: the one that steers, and those for later, in the order in which they will be sent. */
import type { PendingMessage, PendingMessageKind, SessionState } from '@atrium/protocol';
import type { OpenSession } from '../host/open-session.js';
import { IconButton } from '../ui/icon-button.js';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
}

export function PendingMessages({ session, state }: Props) {
  const { steeringMessage, queuedMessages = [] } = state;
  if (!steeringMessage && queuedMessages.length === 0) return null;
  const ids = queuedMessages.map(({ id }) => id);
  return (
    <ul className="pending" aria-label="Waiting messages">
      {steeringMessage && <Pending session={session} kind="steering" message={steeringMessage} />}
      {queuedMessages.map((message, index) => (
        <Pending
          key={message.id}
          session={session}
          kind="queued"
          message={message}
          onFirst={
            index === 0
              ? undefined
              : () =>
                  session.dispatch({
                    type: 'session/queuedMessagesReordered',
                    order: [message.id, ...ids.filter((id) => id !== message.id)],
                  })
          }
        />
      ))}
    </ul>
  );
}

interface PendingProps {
  readonly session: OpenSession;
  readonly kind: PendingMessageKind;
  readonly message: PendingMessage;
  readonly onFirst?: (() => void) | undefined;
}

function Pending({ session, kind, message, onFirst }: PendingProps) {
  const { id, userMessage } = message;
  return (
    <li>
      <span className="tag">{kind === 'steering' ? 'Steering' : 'Queued'}</span>
      <span className="text">{userMessage.text}</span>
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
