/** The client's copy of the host: open channels, dispatched actions, and the last sequence number seen. */

import type { Clock, Log } from '@atrium/link';
import type { ActionEnvelope, Snapshot, StateAction } from '@atrium/protocol';
import { Channel } from './channel.js';
import { ChannelGoneError } from './errors.js';
import { type Accepted, Outbox, type OutboxEntry } from './outbox.js';
import { type Mirror, type Receiver, withDispatched, withoutPending } from './reconcile.js';
import { isStateful, isStateOf } from './reducers.js';

interface StoreOptions {
  readonly clientId: string;
  readonly clock: Clock;
  readonly log: Log;
}

export class Store {
  readonly outbox = new Outbox();
  /** The highest number that was seen in an envelope, a snapshot or an answer to `initialize`. */
  lastSeenServerSeq = 0;
  readonly #channels = new Map<string, Channel>();
  /** Whether the last thing heard was a snapshot. A host may send older actions of other channels right behind it. */
  #justInstalled = false;
  readonly #options: StoreOptions;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  get clientId(): string {
    return this.#options.clientId;
  }

  get channels(): Channel[] {
    return [...this.#channels.values()];
  }

  find(uri: string): Channel | undefined {
    return this.#channels.get(uri);
  }

  add(uri: string, last: number | undefined): Channel {
    const channel = new Channel(uri, last, this.#options.log);
    this.#channels.set(uri, channel);
    return channel;
  }

  /** The last handle was closed. Dispatched actions still wait for their answer. */
  remove(channel: Channel): void {
    if (this.#channels.get(channel.uri) === channel) this.#channels.delete(channel.uri);
  }

  /** The channel is gone, or closed to this client. */
  lose(channel: Channel, error: Error = new ChannelGoneError(channel.uri)): void {
    this.remove(channel);
    this.outbox.abandon(error, channel.uri);
    channel.end(error);
  }

  dispatch(uri: string, action: StateAction): { entry: OutboxEntry; accepted: Promise<Accepted> } {
    return this.outbox.add(uri, action, this.#options.clock.now());
  }

  /** Shows an action that was just sent. Sent first, so that a listener which dispatches too comes second. */
  predict(entry: OutboxEntry): void {
    this.find(entry.channel)?.update((mirror) => withDispatched(mirror, entry));
  }

  /** Applies envelopes in order; listeners of a state are called once for all of them. */
  receive(envelopes: readonly ActionEnvelope[]): void {
    const before = new Map<Channel, Mirror | undefined>();
    for (const envelope of envelopes) {
      const channel = this.find(envelope.channel);
      if (channel && !before.has(channel)) before.set(channel, channel.mirror);
      this.#receiveOne(channel, envelope);
    }
    for (const [channel, mirror] of before) {
      if (channel.mirror !== mirror) channel.changed.emit();
    }
  }

  #receiveOne(channel: Channel | undefined, envelope: ActionEnvelope): void {
    const { serverSeq, origin } = envelope;
    if (serverSeq > this.lastSeenServerSeq) this.heard();
    this.lastSeenServerSeq = Math.max(this.lastSeenServerSeq, serverSeq);
    channel?.receive(envelope, this.#receiver());
    if (origin?.clientId === this.clientId) this.outbox.echoed(origin.clientSeq, envelope);
  }

  /** A message arrived that the host sent after all older actions: none of those is still under way. */
  heard(): void {
    this.#justInstalled = false;
  }

  /** The channels for which an action older than `lastSeenServerSeq` may have been lost, if the connection ends now. */
  doubtful(): Channel[] {
    if (!this.#justInstalled) return [];
    return this.channels.filter(({ mirror }) => mirror !== undefined && mirror.seq < this.lastSeenServerSeq);
  }

  /** Gives a channel its state. False when the state is not of the kind that the channel has. */
  install(channel: Channel, snapshot: Snapshot | undefined, start: number): boolean {
    if (isStateful(channel.kind)) {
      if (!snapshot || !isStateOf(channel.kind, snapshot.state)) return false;
      this.lastSeenServerSeq = Math.max(this.lastSeenServerSeq, snapshot.fromSeq);
      this.#justInstalled = true;
    }
    const confirmed = snapshot && { state: snapshot.state, fromSeq: snapshot.fromSeq, start };
    channel.install(confirmed, this.outbox.pendingOf(channel.uri), this.#receiver());
    return true;
  }

  /** Drops actions whose outcome the host did not tell. */
  forget(clientSeqs: ReadonlySet<number>): void {
    for (const channel of this.channels) channel.update((mirror) => withoutPending(mirror, clientSeqs));
    this.outbox.forget(clientSeqs);
  }

  #receiver(): Receiver {
    return { clientId: this.clientId, now: this.#options.clock.now() };
  }
}
