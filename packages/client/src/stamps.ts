/** Fills in what a program may leave out of an action: the times that reducers need and cannot know. */
import type { ActiveTurn, ChatState, StateAction } from '@atrium/protocol/ahp-1';
import type { DispatchedAction } from './kinds.js';

interface Knowledge {
  readonly now: number;
  /** The chat, as far as this client knows it. */
  readonly chat: ChatState | undefined;
}

export function stamped(action: DispatchedAction, { now, chat }: Knowledge): StateAction {
  if (action.type === 'chat/turnStarted' && action.startedAt === undefined)
    return { ...action, startedAt: new Date(now).toISOString() };
  if (action.type === 'chat/turnCancelled' && action.duration === undefined) {
    const active = chat?.activeTurn;
    // Of a chat that this client does not watch only the host knows how long the turn took, and fills it in.
    return active?.id === action.turnId ? { ...action, duration: elapsed(active, now) } : (action as StateAction);
  }
  return action as StateAction;
}

/** Another machine may have set the start, by a clock that is ahead. */
function elapsed({ startedAt }: ActiveTurn, now: number): number {
  const passed = now - Date.parse(startedAt);
  return Number.isFinite(passed) ? Math.max(0, passed) : 0;
}
