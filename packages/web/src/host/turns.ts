/** Starts, repeats, resumes and branches turns. */
import type { DispatchOf } from '@atrium/client';
import type { Message, MessageAttachment, PendingMessage } from '@atrium/protocol/ahp-1';
import type { Selection } from '../model/selection.js';
import { tell } from '../ui/notices.js';
import { newId } from './new-id.js';
import type { OpenSession } from './open-session.js';
import { problemText } from './problem.js';
import { goTo } from './router.js';

interface Words extends Selection {
  readonly text: string;
  readonly attachments?: readonly MessageAttachment[];
}

/** A person's message, with its model and its agent. */
export function messageOf({ text, attachments = [], model, agent }: Words): Message {
  return {
    text,
    origin: { kind: 'user' },
    ...(attachments.length > 0 && { attachments: [...attachments] }),
    ...(model && { model }),
    ...(agent && { agent }),
  };
}

/** Sends a message: at once if the agent is free, otherwise when it becomes free. */
export function sendMessage(session: OpenSession, message: Message): void {
  if (!session.chat.activeTurn) return startTurn(session, message);
  say(session, { type: 'chat/pendingMessageSet', kind: 'queued', id: newId(), message });
}

function say(session: OpenSession, action: DispatchOf<'chat'>): void {
  session.dispatch(action);
  session.said.set(session.said.get() + 1);
}

export function startTurn(session: OpenSession, message: Message): void {
  say(session, { type: 'chat/turnStarted', turnId: newId(), message });
}

/** Sends a waiting message now; the next ones follow when the agent is free again. */
export function startPending(session: OpenSession, { id, message }: PendingMessage): void {
  say(session, { type: 'chat/turnStarted', turnId: newId(), message, queuedMessageId: id });
}

/** Steers the running turn. */
export function steer(session: OpenSession, message: Message): void {
  say(session, { type: 'chat/pendingMessageSet', kind: 'steering', id: newId(), message });
}

export function stopTurn(session: OpenSession): void {
  const turnId = session.chat.activeTurn?.id;
  if (turnId !== undefined) session.dispatch({ type: 'chat/turnCancelled', turnId });
}

/** Continues the last turn, which was cut off. */
export function resumeTurn(session: OpenSession, turnId: string): void {
  session.dispatch({ type: 'chat/turnResume', turnId });
}

/** Removes a turn and everything after it, then sends its edited message. */
export async function resend(session: OpenSession, turnId: string, message: Message): Promise<void> {
  const before = await turnBefore(session, turnId);
  if (before === 'unknown') return tell('That turn is not there any more.');
  session.dispatch({ type: 'chat/truncated', ...(before !== undefined && { turnId: before }) });
  startTurn(session, message);
}

async function turnBefore(session: OpenSession, turnId: string): Promise<string | undefined | 'unknown'> {
  const isFirstHere = session.chat.turns[0]?.id === turnId;
  if (isFirstHere) await session.loadOlder(1);
  const { turns } = session.chat;
  const index = turns.findIndex(({ id }) => id === turnId);
  return index === -1 ? 'unknown' : turns[index - 1]?.id;
}

export async function forkFrom(session: OpenSession, turnId: string): Promise<void> {
  const { provider, workingDirectories } = session.state;
  try {
    const uri = await session.client.createSession({
      provider,
      ...(workingDirectories && { workingDirectories }),
      fork: { session: session.uri, turnId },
    });
    goTo({ at: 'session', uri });
    tell('This is the fork. The original stays as it was.');
  } catch (error) {
    tell(problemText(error));
  }
}
