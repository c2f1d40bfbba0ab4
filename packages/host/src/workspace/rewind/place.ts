/** The place in a chat that people want to go back to, and the turns after it. */
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Chat } from '@atrium/core/sessions/chat.js';
import type { Session } from '@atrium/core/sessions/session.js';
import { count } from '@atrium/core/util/text.js';
import { ErrorCode, type Message } from '@atrium/protocol/ahp-1';
import { effectsBeyondFiles } from './calls.js';
import { NOT_UNDONE_MAX, PAGE_TURNS, REWIND_TURNS_MAX } from './limits.js';

export interface Place {
  readonly session: Session;
  readonly chat: Chat;
  /** The index of the first turn to undo. */
  readonly index: number;
  readonly message: Message;
  /** The ids of that turn and all later ones, oldest first. */
  readonly turnIds: readonly string[];
  /** The last turn that stays; undefined if none does. */
  readonly lastLeft: string | undefined;
  /** What these turns did besides file changes. */
  readonly effects: readonly string[];
}

export async function placeOf(session: Session, chat: Chat, turnId: string): Promise<Place> {
  if ((chat.state.interactivity ?? 'full') !== 'full')
    throw new RequestError(ErrorCode.InvalidParams, `/channel: this chat is ${chat.state.interactivity}`);
  checkIdle(session);
  const index = await chat.indexOfTurn(turnId);
  if (index === undefined) throw new RequestError(ErrorCode.NotFound, `/turnId: ${chat.uri} has no turn ${turnId}`);
  const total = chat.turnCount();
  if (total - index > REWIND_TURNS_MAX)
    throw new RequestError(ErrorCode.InvalidParams, `/turnId: ${REWIND_TURNS_MAX} turns at most can be taken back`);
  const [before] = index > 0 ? await chat.turnsBetween(index - 1, index) : [];
  const turnIds: string[] = [];
  const effects = new Map<string, number>();
  let message: Message | undefined;
  for (let start = index; start < total; start += PAGE_TURNS) {
    const page = await chat.turnsBetween(start, Math.min(total, start + PAGE_TURNS));
    if (page.length === 0) break;
    message ??= page[0]?.message;
    for (const turn of page) {
      turnIds.push(turn.id);
      for (const each of effectsBeyondFiles(session, turn)) effects.set(each, (effects.get(each) ?? 0) + 1);
    }
  }
  if (!message || turnIds.length !== total - index)
    throw new RequestError(ErrorCode.Conflict, 'the conversation was cut meanwhile: look again');
  return { session, chat, index, message, turnIds, lastLeft: before?.id, effects: listed(effects) };
}

/** Throws while a turn of the session runs, because its files and its conversation are still changing. */
export function checkIdle({ chats }: Session): void {
  if (!chats.some(({ state }) => state.activeTurn)) return;
  throw new RequestError(ErrorCode.TurnInProgress, 'a turn is running: wait for its end, or stop it first');
}

function listed(effects: ReadonlyMap<string, number>): string[] {
  const all = [...effects].map(([text, times]) => (times > 1 ? `${text} (${times} times)` : text));
  const more = all.length - NOT_UNDONE_MAX;
  return more > 0 ? [...all.slice(0, NOT_UNDONE_MAX), `and ${count(more, 'more call')}`] : all;
}
