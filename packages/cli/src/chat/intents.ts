/** What a person wants of a session, as actions. What that is depends on whether a turn is running. */
import { randomUUID } from 'node:crypto';
import { type SessionAction, type SessionState, SessionStatus, type UserMessage } from '@atrium/protocol';

/** A message begins a turn, or waits behind the one that runs. */
export function send({ activeTurn }: SessionState, message: UserMessage): SessionAction {
  return activeTurn ? waiting('queued', message) : begun(message);
}

/** Without a turn there is nothing to steer, and the message begins one. */
export function steer({ activeTurn }: SessionState, message: UserMessage): SessionAction {
  return activeTurn ? waiting('steering', message) : begun(message);
}

function begun(userMessage: UserMessage): SessionAction {
  return { type: 'session/turnStarted', turnId: randomUUID(), userMessage };
}

function waiting(kind: 'queued' | 'steering', userMessage: UserMessage): SessionAction {
  return { type: 'session/pendingMessageSet', kind, id: randomUUID(), userMessage };
}

/** What is over and not read yet has been seen now. */
export function seen({ summary, activeTurn, turns }: SessionState): SessionAction | undefined {
  if (activeTurn || turns.length === 0 || summary.status & SessionStatus.IsRead) return undefined;
  return { type: 'session/isReadChanged', isRead: true };
}

export function stop({ activeTurn }: SessionState): SessionAction | undefined {
  return activeTurn && { type: 'session/turnCancelled', turnId: activeTurn.id };
}

/** A turn that was stopped leaves what was queued behind it. */
export function next({ activeTurn, queuedMessages = [] }: SessionState): SessionAction | undefined {
  const [first] = queuedMessages;
  if (!first || activeTurn) return undefined;
  const { id: queuedMessageId, userMessage } = first;
  return { type: 'session/turnStarted', turnId: randomUUID(), userMessage, queuedMessageId };
}
