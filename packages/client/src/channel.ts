/** One channel that this client is subscribed to, shared by all handles to it. Knows nothing of connections. */

import type { Log } from '@atrium/link';
import { Emitter } from '@atrium/link';
import type { ActionEnvelope, ChannelKind } from '@atrium/protocol/ahp-1';
import { ActionRejectedError, ChannelGoneError } from './errors.js';
import { type ChannelState, isStateful } from './kinds.js';
import {
  type Confirmed,
  isNews,
  type Mirror,
  mirrorOf,
  optimisticOf,
  type PendingAction,
  withReceived,
} from './reconcile.js';

/** A stateless channel is live without a mirror. */
type Phase =
  | { readonly at: 'opening' }
  | { readonly at: 'live'; readonly mirror: Mirror | undefined }
  | { readonly at: 'gone'; readonly error: Error; readonly mirror: Mirror | undefined };

/** What a program asks for. */
export interface ChannelRequest {
  readonly uri: string;
  readonly kind: ChannelKind;
  readonly last?: number | undefined;
}

export class Channel {
  readonly uri: string;
  readonly kind: ChannelKind;
  readonly changed: Emitter<void>;
  readonly acted: Emitter<ActionEnvelope>;
  readonly rejected: Emitter<ActionRejectedError>;
  readonly gone: Emitter<Error>;
  /** The handles that keep the subscription alive. */
  handles = 0;
  /** How many of the newest turns of a chat its users asked for; all, when undefined. */
  last: number | undefined;

  #phase: Phase = { at: 'opening' };
  /** Actions that arrive while a snapshot is under way; they may be newer than it. */
  #held: ActionEnvelope[] | undefined;
  #waiting: { resolve(): void; reject(error: Error): void }[] = [];
  #shown: { readonly mirror: Mirror; readonly state: ChannelState } | undefined;

  constructor({ uri, kind, last }: ChannelRequest, log: Log) {
    this.uri = uri;
    this.kind = kind;
    this.last = last;
    this.changed = new Emitter(log);
    this.acted = new Emitter(log);
    this.rejected = new Emitter(log);
    this.gone = new Emitter(log);
  }

  get phase(): Phase {
    return this.#phase;
  }

  get mirror(): Mirror | undefined {
    return this.#phase.at === 'opening' ? undefined : this.#phase.mirror;
  }

  /** What a user should see; the same object until something changes. */
  get optimistic(): ChannelState | undefined {
    const { mirror } = this;
    if (mirror && this.#shown?.mirror !== mirror) this.#shown = { mirror, state: optimisticOf(mirror) };
    return mirror && this.#shown?.state;
  }

  /** Resolves with the next snapshot. */
  settled(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Whether a snapshot was requested and has not arrived. */
  get expectsSnapshot(): boolean {
    return this.#held !== undefined;
  }

  /** Call it when a snapshot is requested. */
  expectSnapshot(): void {
    this.#held = [];
  }

  /** The connection ended: actions held for its snapshot belong to no later one. */
  disconnected(): void {
    this.#held = undefined;
  }

  /** No snapshot will come. The last known state stays. */
  snapshotFailed(error: Error): void {
    this.#held = undefined;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  /** Changes the mirror, if the channel is live and has one. */
  update(change: (mirror: Mirror) => Mirror): void {
    const { mirror } = this;
    if (!mirror || this.#phase.at !== 'live') return;
    const next = change(mirror);
    if (next === mirror) return;
    this.#phase = { at: 'live', mirror: next };
    this.changed.emit();
  }

  install(snapshot: Confirmed | undefined, pending: readonly PendingAction[], clientId: string): void {
    if (this.#phase.at === 'gone') return;
    const first = this.#phase.at === 'opening';
    const mirror = snapshot && isStateful(this.kind) ? mirrorOf(this.kind, snapshot, pending) : undefined;
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#phase = { at: 'live', mirror };
    for (const envelope of held) this.#apply(envelope, clientId, first);
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    this.changed.emit();
  }

  receive(envelope: ActionEnvelope, clientId: string): void {
    this.#held?.push(envelope);
    this.#apply(envelope, clientId, true);
  }

  end(error: Error = new ChannelGoneError(this.uri)): void {
    if (this.#phase.at === 'gone') return;
    this.#phase = { at: 'gone', error, mirror: this.mirror };
    this.snapshotFailed(error);
    this.gone.emit(error);
    this.changed.emit();
  }

  /** Reduces, and notifies listeners of actions. The caller notifies listeners of the state, once per batch. */
  #apply(envelope: ActionEnvelope, clientId: string, notify: boolean): void {
    if (this.#phase.at !== 'live' || !this.#phase.mirror) return;
    const { mirror } = this.#phase;
    this.#phase = { at: 'live', mirror: withReceived(mirror, envelope, clientId) };
    if (!notify) return;
    if (isNews(mirror, envelope)) this.acted.emit(envelope);
    const rejected = rejectionOf(mirror, envelope, clientId);
    if (rejected) this.rejected.emit(rejected);
  }
}

/** The rejection of one of our pending actions; other rejections are ignored. */
function rejectionOf(
  { pending }: Mirror,
  { rejectionReason, origin }: ActionEnvelope,
  clientId: string,
): ActionRejectedError | undefined {
  if (rejectionReason === undefined || origin?.clientId !== clientId) return undefined;
  const own = pending.find(({ clientSeq }) => clientSeq === origin.clientSeq);
  return own && new ActionRejectedError(own.action, rejectionReason);
}
