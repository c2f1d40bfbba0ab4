/**
 * Write-ahead reconciliation as pure functions: a mirror holds the confirmed state and the dispatched actions without an
 * echo. The host wins every conflict; rebasing means reducing again. Of a chat the state may hold the newest turns only.
 */
import type { ActionEnvelope, ChatState, StateAction } from '@atrium/protocol/ahp-1';
import type { ChannelState, StatefulKind } from './kinds.js';
import { asChat, reduce } from './reducers.js';

/** An action of ours that the host has not echoed yet. */
export interface PendingAction {
  readonly clientSeq: number;
  readonly action: StateAction;
}

export interface Mirror {
  readonly kind: StatefulKind;
  /** The last state acknowledged by the host. */
  readonly confirmed: ChannelState;
  /** `confirmed` contains everything up to this number. */
  readonly seq: number;
  readonly pending: readonly PendingAction[];
  /** How many turns of a chat are older than those in `confirmed`; undefined when the host did not say. */
  readonly older: number | undefined;
  /** Needs a new snapshot: history was cut below the window, more of it is wanted, or an action may be lost. */
  readonly stale: boolean;
}

/** Actions whose effect on the state cannot be predicted. */
const NOT_PREDICTED: ReadonlySet<string> = new Set(['terminal/input']);

export interface Confirmed {
  readonly state: ChannelState;
  readonly fromSeq: number;
  /** As in `Mirror`. */
  readonly older: number | undefined;
}

export function mirrorOf(kind: StatefulKind, snapshot: Confirmed, pending: readonly PendingAction[]): Mirror {
  const { state, fromSeq, older } = snapshot;
  return { kind, confirmed: state, seq: fromSeq, older, pending, stale: false };
}

export function withDispatched(mirror: Mirror, pending: PendingAction): Mirror {
  return { ...mirror, pending: [...mirror.pending, pending] };
}

export function withoutPending(mirror: Mirror, clientSeqs: ReadonlySet<number>): Mirror {
  const pending = mirror.pending.filter(({ clientSeq }) => !clientSeqs.has(clientSeq));
  return pending.length === mirror.pending.length ? mirror : { ...mirror, pending };
}

export function asStale(mirror: Mirror): Mirror {
  return mirror.stale ? mirror : { ...mirror, stale: true };
}

/** The state of a chat that lacks older turns. */
export function windowed({ kind, confirmed }: Mirror): ChatState | undefined {
  const chat = asChat(kind, confirmed);
  return chat?.turnsNextCursor === undefined ? undefined : chat;
}

/** Asks for a new snapshot when it holds fewer turns than are wanted (all, when undefined) and there are more. */
export function withRequestedTurns(mirror: Mirror, last: number | undefined): Mirror {
  const chat = windowed(mirror);
  if (!chat || (last !== undefined && chat.turns.length >= last)) return mirror;
  return asStale(mirror);
}

/** Whether an envelope changes `confirmed`: it was accepted, and is not contained already. */
export function isNews({ seq }: Mirror, { serverSeq, rejectionReason }: ActionEnvelope): boolean {
  return serverSeq > seq && rejectionReason === undefined;
}

/** An echo settles our pending action, in any order; accepted actions are reduced, ours or not. */
export function withReceived(mirror: Mirror, envelope: ActionEnvelope, clientId: string): Mirror {
  const { origin } = envelope;
  const settled = origin?.clientId === clientId ? withoutPending(mirror, new Set([origin.clientSeq])) : mirror;
  return isNews(settled, envelope) ? withReduced(settled, envelope) : settled;
}

function withReduced(mirror: Mirror, { action, serverSeq }: ActionEnvelope): Mirror {
  const confirmed = reduce(mirror.kind, mirror.confirmed, action);
  const stale = mirror.stale || cutsBelow(mirror, action as StateAction);
  return { ...mirror, confirmed, seq: serverSeq, older: olderAfter(mirror, confirmed, action as StateAction), stale };
}

/**
 * Loading turns makes the older ones fewer. A cut that leaves no turns leaves no older ones; turns loaded after it
 * bring their own count.
 */
function olderAfter({ kind, confirmed, older }: Mirror, next: ChannelState, action: StateAction): number | undefined {
  if (older === undefined) return undefined;
  if (action.type === 'chat/truncated' && !action.turnId) return 0;
  if (action.type !== 'chat/turnsLoaded') return older;
  if (asChat(kind, confirmed)?.turns.length === 0) return Number(action.turnsNextCursor ?? 0) || 0;
  const loaded = (asChat(kind, next)?.turns.length ?? 0) - (asChat(kind, confirmed)?.turns.length ?? 0);
  return Math.max(0, older - loaded);
}

/** Whether history was cut at a turn that the mirror does not hold, so that the rest is unknown. */
function cutsBelow(mirror: Mirror, action: StateAction): boolean {
  if (action.type !== 'chat/truncated' || !action.turnId) return false;
  return windowed(mirror)?.turns.every(({ id }) => id !== action.turnId) ?? false;
}

/** The confirmed state with all pending actions on top, in the order in which they were dispatched. */
export function optimisticOf({ kind, confirmed, pending }: Mirror): ChannelState {
  return pending
    .filter(({ action }) => !NOT_PREDICTED.has(action.type))
    .reduce((state, { action }) => reduce(kind, state, action), confirmed);
}

/** How much of a chat to ask for: the newest turns only. */
export interface TurnWindow {
  readonly last: number;
}

/** How many older turns there are, by the extension of an Atrium host; undefined when the host does not say. */
export function olderOf(position: unknown): number | undefined {
  const start = typeof position === 'object' && position !== null && 'start' in position ? position.start : undefined;
  return typeof start === 'number' && Number.isInteger(start) && start >= 0 ? start : undefined;
}

/** The same for one channel of many. */
export function olderOfChannel(positions: unknown, channel: string): number | undefined {
  const isMap = typeof positions === 'object' && positions !== null && Object.hasOwn(positions, channel);
  return isMap ? olderOf((positions as Record<string, unknown>)[channel]) : undefined;
}
