/** Sends a message to a session: it starts a turn, or waits behind the one that runs. */
import { randomUUID } from 'node:crypto';
import type { Subscription } from '@atrium/client';

/** Resolves with the id of the turn that answers the message, once that turn has begun. */
export async function sendMessage(session: Subscription, text: string): Promise<string> {
  const userMessage = { text };
  if (!session.state.activeTurn) {
    const turnId = randomUUID();
    await session.dispatch({ type: 'session/turnStarted', turnId, userMessage });
    return turnId;
  }
  const id = randomUUID();
  const actions = session.actions();
  await session.dispatch({ type: 'session/pendingMessageSet', kind: 'queued', id, userMessage });
  for await (const { action } of actions)
    if (action.type === 'session/turnStarted' && action.queuedMessageId === id) return action.turnId;
  throw new Error('the session was disposed before the message had its turn');
}
