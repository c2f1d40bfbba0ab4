/**
 * Fills in members that programs may leave out of actions: times, which reducers cannot know, and the origin of
 * messages.
 */
import type { ActiveTurn, ChatState, Message, StateAction } from '@atrium/protocol/ahp-1';
import type { DispatchedAction, UserMessage } from './kinds.js';

interface Knowledge {
  readonly now: number;
  /** The chat, as far as this client knows it. */
  readonly chat: ChatState | undefined;
}

export function stamped(action: DispatchedAction, { now, chat }: Knowledge): StateAction {
  switch (action.type) {
    case 'chat/turnStarted':
      return { startedAt: new Date(now).toISOString(), ...action, message: fromUser(action.message) };
    case 'chat/pendingMessageSet':
      return { ...action, message: fromUser(action.message) };
    case 'chat/draftChanged':
      return { ...action, ...(action.draft && { draft: fromUser(action.draft) }) } as StateAction;
    case 'chat/turnCancelled': {
      const active = chat?.activeTurn;
      // In a chat that this client does not watch, only the host knows how long the turn took; it fills in the
      // duration.
      return active?.id === action.turnId ? { duration: elapsed(active, now), ...action } : (action as StateAction);
    }
    default:
      return action;
  }
}

export function fromUser(message: UserMessage): Message {
  return { origin: { kind: 'user' }, ...message };
}

/** Another machine, whose clock is ahead, may have set the start. */
function elapsed({ startedAt }: ActiveTurn, now: number): number {
  const passed = now - Date.parse(startedAt);
  return Number.isFinite(passed) ? Math.max(0, passed) : 0;
}
