/** Starts, repeats, resumes and branches turns. */
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

/** Sends a waiting message now; the next ones follow when the agent is free again. */
export function startPending(session: OpenSession, { id, message }: PendingMessage): void {
  session.dispatch({ type: 'chat/turnStarted', turnId: newId(), message, queuedMessageId: id });
  session.said.set(session.said.get() + 1);
}

export function stopTurn(session: OpenSession): void {
  const turnId = session.chat.activeTurn?.id;
  if (turnId !== undefined) session.dispatch({ type: 'chat/turnCancelled', turnId });
}

/** Continues the last turn, which was cut off. */
export function resumeTurn(session: OpenSession, turnId: string): void {
  session.dispatch({ type: 'chat/turnResume', turnId });
}

/**
 * Removes a turn and everything after it, then sends its edited message. Resolves with false when the message is not
 * sent.
 */
export async function resend(session: OpenSession, turnId: string, message: Message): Promise<boolean> {
  const before = await turnBefore(session, turnId);
  if (before === 'unknown') {
    tell('That turn is not there any more.');
    return false;
  }
  session.dispatch({ type: 'chat/truncated', ...(before !== undefined && { turnId: before }) });
  return session.sendMessage(message, { isRepeat: true });
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
