/** Keeps `summary.status` true: one activity out of five bits, flags above them untouched. */
import { withMembers } from '../../reducing.js';
import type { SessionState } from '../state/session-state.js';
import { ACTIVITY_MASK, SessionStatus } from '../status.js';

/** What the session is doing, as its state tells. */
function activity(state: SessionState): number {
  if (state.inputRequests?.length || hasPendingCall(state)) return SessionStatus.InputNeeded;
  return state.activeTurn ? SessionStatus.InProgress : SessionStatus.Idle;
}

function hasPendingCall({ activeTurn }: SessionState): boolean {
  return !!activeTurn?.responseParts.some((part) => {
    const status = part.kind === 'toolCall' && part.toolCall.status;
    return status === 'pending-confirmation' || status === 'pending-result-confirmation';
  });
}

/** The status bits for a state, with the activity given or else worked out. */
export function statusOf(state: SessionState, forced?: number): number {
  return (state.summary.status & ~ACTIVITY_MASK) | (forced ?? activity(state));
}

/** The state with its status worked out anew. The time of the last change is left alone. */
export function refreshed(state: SessionState): SessionState {
  const summary = withMembers(state.summary, { status: statusOf(state) });
  return withMembers(state, { summary });
}

/** The state as changed now, with its status worked out anew. */
export function touched(state: SessionState, now: number, forced?: number): SessionState {
  return { ...state, summary: { ...state.summary, status: statusOf(state, forced), modifiedAt: now } };
}

/** The state as changed now by something that somebody should look at: no longer read. */
export function touchedUnread(state: SessionState, now: number): SessionState {
  const status = statusOf(state) & ~SessionStatus.IsRead;
  return { ...state, summary: { ...state.summary, status, modifiedAt: now } };
}

/** The bits with one flag set or cleared. */
export function withFlag(status: number, flag: number, on: boolean): number {
  return on ? status | flag : status & ~flag;
}
