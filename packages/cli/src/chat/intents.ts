/** What a person wants of a session, as actions. What that is depends on whether a turn is running. */
import { randomUUID } from 'node:crypto';
import type { SessionAction, SessionState } from '@atrium/protocol';

/** A message begins a turn, or waits behind the one that runs. */
export function send({ activeTurn }: SessionState, text: string): SessionAction {
  return activeTurn ? waiting('queued', text) : begun(text);
}

/** Without a turn there is nothing to steer, and the message begins one. */
export function steer({ activeTurn }: SessionState, text: string): SessionAction {
  return activeTurn ? waiting('steering', text) : begun(text);
}

function begun(text: string): SessionAction {
  return { type: 'session/turnStarted', turnId: randomUUID(), userMessage: { text } };
}

function waiting(kind: 'queued' | 'steering', text: string): SessionAction {
  return { type: 'session/pendingMessageSet', kind, id: randomUUID(), userMessage: { text } };
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
