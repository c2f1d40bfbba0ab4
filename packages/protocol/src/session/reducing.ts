/**
 * What the session's reducers share: the type of a family of handlers, the active turn, and a correct `summary.status`.
 */
import { openParts } from '../parts.js';
import { type Handlers, withMembers } from '../reducing.js';
import type { SessionActionMap, SessionActionType } from './actions.js';
import type { SessionState } from './state.js';
import { ACTIVITY_MASK, SessionStatus } from './status.js';
import type { ActiveTurn } from './turns.js';

/** The handlers of some types of action. */
export type SessionHandlers<Types extends SessionActionType> = Handlers<SessionState, Pick<SessionActionMap, Types>>;

/** Changes the active turn, if it is this one. */
export function withActiveTurn(
  state: SessionState,
  turnId: string,
  change: (turn: ActiveTurn) => ActiveTurn,
): SessionState {
  const { activeTurn } = state;
  if (!activeTurn || activeTurn.id !== turnId) return state;
  const changed = change(activeTurn);
  return changed === activeTurn ? state : { ...state, activeTurn: changed };
}

/** The activity that the state implies. */
function activity(state: SessionState): number {
  if (state.inputRequests?.length || hasPendingCall(state)) return SessionStatus.InputNeeded;
  return state.activeTurn ? SessionStatus.InProgress : SessionStatus.Idle;
}

function hasPendingCall({ activeTurn }: SessionState): boolean {
  if (!activeTurn) return false;
  for (const part of openParts(activeTurn)) {
    const status = part.kind === 'toolCall' && part.toolCall.status;
    if (status === 'pending-confirmation' || status === 'pending-result-confirmation') return true;
  }
  return false;
}

/** The status bits of a state, with the given or the implied activity. */
function statusOf(state: SessionState, forced?: number): number {
  return (state.summary.status & ~ACTIVITY_MASK) | (forced ?? activity(state));
}

/** The state with its status recomputed, and the same `modifiedAt`. */
export function refreshed(state: SessionState): SessionState {
  const summary = withMembers(state.summary, { status: statusOf(state) });
  return withMembers(state, { summary });
}

/** The state as modified now, with its status recomputed. */
export function touched(state: SessionState, now: number, forced?: number): SessionState {
  return { ...state, summary: { ...state.summary, status: statusOf(state, forced), modifiedAt: now } };
}

/** The state as modified now by something that a person should see: marked unread. */
export function touchedUnread(state: SessionState, now: number): SessionState {
  const status = statusOf(state) & ~SessionStatus.IsRead;
  return { ...state, summary: { ...state.summary, status, modifiedAt: now } };
}

/** The bits with one flag set or cleared. */
export function withFlag(status: number, flag: number, on: boolean): number {
  return on ? status | flag : status & ~flag;
}
