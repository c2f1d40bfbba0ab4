/** Which part of a session's history a mirror holds. Knows nothing of the wire but the two members that carry it. */
import type { SessionState, StateAction, Turn } from '@atrium/protocol';

/** How much history to ask for: the newest turns only. An extension; a host without it sends everything. */
export interface TurnWindow {
  readonly last: number;
}

export interface WindowPosition {
  /** The index, in the whole history, of the first finished turn that the state holds. */
  readonly start: number;
  /** The number of finished turns in the whole history. */
  readonly total: number;
}

/** The start of the window that a host answered with; 0, so everything, when it does not say. */
export function startOf(turns: unknown): number {
  const start = typeof turns === 'object' && turns !== null && 'start' in turns ? turns.start : 0;
  return typeof start === 'number' && Number.isInteger(start) && start > 0 ? start : 0;
}

/** The same for one channel of many. */
export function startOfChannel(turns: unknown, channel: string): number {
  const isMap = typeof turns === 'object' && turns !== null && Object.hasOwn(turns, channel);
  return isMap ? startOf((turns as Record<string, unknown>)[channel]) : 0;
}

/** Whether history was cut at a turn that the mirror does not hold, so that it cannot know what is left. */
export function cutsBelow(start: number, state: SessionState, action: StateAction): boolean {
  if (start === 0 || action.type !== 'session/truncated' || !action.turnId) return false;
  return !state.turns.some(({ id }) => id === action.turnId);
}

/** Whether history was emptied, so that nothing is left below the window either. */
export function emptiesHistory(action: StateAction): boolean {
  return action.type === 'session/truncated' && !action.turnId;
}

export function withTurnsBefore(state: SessionState, older: readonly Turn[]): SessionState {
  return { ...state, turns: [...older, ...state.turns] };
}
