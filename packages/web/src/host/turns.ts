/** Starting, repeating and branching turns. */
import type { MessageAttachment, PendingMessage, UserMessage } from '@atrium/protocol';
import { tell } from '../ui/notices.js';
import { newId } from './new-id.js';
import type { OpenSession } from './open-session.js';
import { problemText } from './problem.js';
import { goTo } from './router.js';

export function messageOf(text: string, attachments: readonly MessageAttachment[] = []): UserMessage {
  return { text, ...(attachments.length > 0 && { attachments: [...attachments] }) };
}

/** At once when the agent is free, otherwise when it is. */
export function sendMessage(session: OpenSession, userMessage: UserMessage): void {
  if (!session.state.activeTurn) return startTurn(session, userMessage);
  session.dispatch({ type: 'session/pendingMessageSet', kind: 'queued', id: newId(), userMessage });
}

export function startTurn(session: OpenSession, userMessage: UserMessage): void {
  session.dispatch({ type: 'session/turnStarted', turnId: newId(), userMessage });
}

/** A message that waits is sent now; those behind it follow when the agent is free again. */
export function startPending(session: OpenSession, { id, userMessage }: PendingMessage): void {
  session.dispatch({ type: 'session/turnStarted', turnId: newId(), userMessage, queuedMessageId: id });
}

/** Steers the running turn. */
export function steer(session: OpenSession, userMessage: UserMessage): void {
  session.dispatch({ type: 'session/pendingMessageSet', kind: 'steering', id: newId(), userMessage });
}

export function stopTurn(session: OpenSession): void {
  const turnId = session.state.activeTurn?.id;
  if (turnId !== undefined) session.dispatch({ type: 'session/turnCancelled', turnId });
}

/** Forgets a turn and everything after it, then says it differently. */
export async function resend(session: OpenSession, turnId: string, userMessage: UserMessage): Promise<void> {
  const before = await turnBefore(session, turnId);
  if (before === 'unknown') return tell('That turn is not there any more.');
  session.dispatch({ type: 'session/truncated', ...(before !== undefined && { turnId: before }) });
  startTurn(session, userMessage);
}

async function turnBefore(session: OpenSession, turnId: string): Promise<string | undefined | 'unknown'> {
  const isFirstHere = session.state.turns[0]?.id === turnId;
  if (isFirstHere) await session.loadOlder(1);
  const { turns } = session.state;
  const index = turns.findIndex(({ id }) => id === turnId);
  return index === -1 ? 'unknown' : turns[index - 1]?.id;
}

export async function forkFrom(session: OpenSession, turnId: string): Promise<void> {
  const { provider, model, workingDirectory } = session.state.summary;
  try {
    const uri = await session.client.createSession({
      provider,
      ...(model && { model }),
      ...(workingDirectory && { workingDirectory }),
      fork: { session: session.uri, turnId },
    });
    goTo({ at: 'session', uri });
    tell('This is the fork. The original stays as it was.');
  } catch (error) {
    tell(problemText(error));
  }
}
