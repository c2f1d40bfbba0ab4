/**
 * Write-ahead reconciliation as pure functions: a mirror holds the confirmed state, the dispatched actions without an
 * echo, and which turns of a session it covers. The host wins every conflict; rebasing means reducing again.
 */
import type { ActionEnvelope, SessionState, StateAction, Turn } from '@atrium/protocol';
import { type ChannelState, reduce, type StatefulKind } from './reducers.js';

/** An action of ours that the host has not echoed yet. */
export interface PendingAction {
  readonly clientSeq: number;
  readonly action: StateAction;
  /** When it was dispatched. Kept, so that reducing it again gives the same state again. */
  readonly at: number;
}

export interface Mirror {
  readonly kind: StatefulKind;
  /** The last state acknowledged by the host. */
  readonly confirmed: ChannelState;
  /** `confirmed` contains everything up to this number. */
  readonly seq: number;
  readonly pending: readonly PendingAction[];
  /** The index of the first finished turn that `confirmed` holds; 0 for everything that is not a session. */
  readonly start: number;
  /** Needs a new snapshot: history was cut below the window, more of it is wanted, or an action may be lost. */
  readonly stale: boolean;
}

/** Actions whose effect on the state cannot be predicted. */
const NOT_PREDICTED: ReadonlySet<string> = new Set(['terminal/input']);

export interface Confirmed {
  readonly state: ChannelState;
  readonly fromSeq: number;
  readonly start: number;
}

export function mirrorOf(kind: StatefulKind, snapshot: Confirmed, pending: readonly PendingAction[]): Mirror {
  const { state, fromSeq, start } = snapshot;
  return { kind, confirmed: state, seq: fromSeq, start, pending, stale: false };
}

export function withDispatched(mirror: Mirror, pending: PendingAction): Mirror {
  return { ...mirror, pending: [...mirror.pending, pending] };
}

export function withoutPending(mirror: Mirror, clientSeqs: ReadonlySet<number>): Mirror {
  const pending = mirror.pending.filter(({ clientSeq }) => !clientSeqs.has(clientSeq));
  return pending.length === mirror.pending.length ? mirror : { ...mirror, pending };
}

export function asStale(mirror: Mirror): Mirror {
  return { ...mirror, stale: true };
}

/** Asks for a new snapshot when it holds fewer turns than are wanted (all, when undefined) and there are more. */
export function withWanted(mirror: Mirror, last: number | undefined): Mirror {
  if (mirror.start === 0 || mirror.stale) return mirror;
  const held = (mirror.confirmed as SessionState).turns.length;
  return last !== undefined && held >= last ? mirror : asStale(mirror);
}

/** Whether an envelope changes `confirmed`: it was accepted, and is not contained already. */
export function isNews({ seq }: Mirror, { serverSeq, rejectionReason }: ActionEnvelope): boolean {
  return serverSeq > seq && rejectionReason === undefined;
}

export interface Receiver {
  readonly clientId: string;
  readonly now: number;
}

/** An echo settles our pending action, in any order; accepted actions are reduced, ours or not. */
export function withReceived(mirror: Mirror, envelope: ActionEnvelope, { clientId, now }: Receiver): Mirror {
  const { origin } = envelope;
  const settled = origin?.clientId === clientId ? withoutPending(mirror, new Set([origin.clientSeq])) : mirror;
  return isNews(settled, envelope) ? withReduced(settled, envelope, now) : settled;
}

function withReduced(mirror: Mirror, { action, serverSeq }: ActionEnvelope, now: number): Mirror {
  const { kind, start } = mirror;
  const confirmed = reduce(kind, mirror.confirmed, action, now);
  const cut = kind === 'session' && cutsBelow(start, mirror.confirmed as SessionState, action);
  const emptied = kind === 'session' && emptiesHistory(action);
  return { ...mirror, confirmed, seq: serverSeq, start: emptied ? 0 : start, stale: mirror.stale || cut };
}

/** The confirmed state with all pending actions on top, in the order in which they were dispatched. */
export function optimisticOf({ kind, confirmed, pending }: Mirror): ChannelState {
  return pending
    .filter(({ action }) => !NOT_PREDICTED.has(action.type))
    .reduce((state, { action, at }) => reduce(kind, state, action, at), confirmed);
}

interface OlderTurns {
  /** The turn that the page ends before; `undefined` when the mirror held none. */
  readonly before: string | undefined;
  readonly turns: readonly Turn[];
  readonly hasMore: boolean;
}

/** With an older page of history in front. A page that no longer fits, because history changed, is left out. */
export function withOlder(mirror: Mirror, { before, turns, hasMore }: OlderTurns): Mirror {
  const state = mirror.confirmed as SessionState;
  if (mirror.stale || mirror.start === 0 || state.turns[0]?.id !== before) return mirror;
  const start = hasMore ? Math.max(0, mirror.start - turns.length) : 0;
  return { ...mirror, confirmed: withTurnsBefore(state, turns), start };
}

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

/** Whether history was cut at a turn that the mirror does not hold, so that the rest is unknown. */
function cutsBelow(start: number, state: SessionState, action: StateAction): boolean {
  if (start === 0 || action.type !== 'session/truncated' || !action.turnId) return false;
  return !state.turns.some(({ id }) => id === action.turnId);
}

/** Whether history was emptied, so that nothing is left below the window either. */
function emptiesHistory(action: StateAction): boolean {
  return action.type === 'session/truncated' && !action.turnId;
}

function withTurnsBefore(state: SessionState, older: readonly Turn[]): SessionState {
  return { ...state, turns: [...older, ...state.turns] };
}
