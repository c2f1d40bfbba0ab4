/** The client's copy of the host: open channels, dispatched actions, and the last sequence number seen. */

import type { Log } from '@atrium/link';
import {
  type ActionEnvelope,
  annotationsChannel,
  type SessionState,
  type Snapshot,
  type StateAction,
  sessionOfDefaultChat,
} from '@atrium/protocol/ahp-1';
import { Channel, type ChannelRequest } from './channel.js';
import { ChannelGoneError } from './errors.js';
import { isStateful } from './kinds.js';
import { type Accepted, PendingActions, type UndecidedAction } from './pending-actions.js';
import { type Mirror, withDispatched, withoutPending } from './reconcile.js';
import { isStateOf } from './reducers.js';

interface StoreOptions {
  readonly clientId: string;
  readonly log: Log;
}

export class Store {
  readonly pending = new PendingActions();
  /** The highest number so far in an envelope, a snapshot or an answer to `initialize`. */
  lastSeenServerSeq = 0;
  readonly #channels = new Map<string, Channel>();
  /** Whether the last message was a snapshot. A host may send older actions of other channels right after it. */
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

  add(request: ChannelRequest): Channel {
    const channel = new Channel(request, this.#options.log);
    this.#channels.set(request.uri, channel);
    return channel;
  }

  /** The last handle was closed. Dispatched actions still wait for their answer. */
  remove(channel: Channel): void {
    if (this.#channels.get(channel.uri) === channel) this.#channels.delete(channel.uri);
  }

  /** The channel is gone, or closed to this client. */
  lose(channel: Channel, error: Error = new ChannelGoneError(channel.uri)): void {
    this.remove(channel);
    this.pending.abandon(error, channel.uri);
    channel.end(error);
  }

  /** A session is gone, and with it everything that belongs to it. */
  loseSession(session: string): void {
    const chats = new Set(sessionState(this.find(session))?.chats.map(({ resource }) => resource));
    const belongs = ({ uri }: Channel) =>
      uri === session || uri === annotationsChannel(session) || chats.has(uri) || sessionOfDefaultChat(uri) === session;
    for (const channel of this.channels.filter(belongs)) this.lose(channel);
  }

  dispatch(uri: string, action: StateAction): { entry: UndecidedAction; accepted: Promise<Accepted> } {
    return this.pending.add(uri, action);
  }

  /** Shows an action that was just sent. Sent first, so that a listener which dispatches too comes second. */
  predict(entry: UndecidedAction): void {
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
    if (serverSeq > this.lastSeenServerSeq) this.received();
    this.lastSeenServerSeq = Math.max(this.lastSeenServerSeq, serverSeq);
    channel?.receive(envelope, this.clientId);
    if (origin?.clientId === this.clientId) this.pending.echoed(origin.clientSeq, envelope);
  }

  /** A message arrived that the host sent after all older actions: none of those is still under way. */
  received(): void {
    this.#justInstalled = false;
  }

  /** The channels for which an action older than `lastSeenServerSeq` may have been lost, if the connection ends now. */
  doubtful(): Channel[] {
    if (!this.#justInstalled) return [];
    return this.channels.filter(({ mirror }) => mirror !== undefined && mirror.seq < this.lastSeenServerSeq);
  }

  /** Gives a channel its state. False when the state is not of the kind that the channel has. */
  install(channel: Channel, snapshot: Snapshot | undefined, older: number | undefined): boolean {
    if (isStateful(channel.kind)) {
      if (!snapshot || !isStateOf(channel.kind, snapshot.state)) return false;
      this.lastSeenServerSeq = Math.max(this.lastSeenServerSeq, snapshot.fromSeq);
      this.#justInstalled = true;
    }
    const confirmed = snapshot && { state: snapshot.state, fromSeq: snapshot.fromSeq, older };
    channel.install(confirmed, this.pending.pendingOf(channel.uri), this.clientId);
    return true;
  }

  /** Drops actions whose outcome the host did not report. */
  forget(clientSeqs: ReadonlySet<number>): void {
    for (const channel of this.channels) channel.update((mirror) => withoutPending(mirror, clientSeqs));
    this.pending.forget(clientSeqs);
  }
}

function sessionState(channel: Channel | undefined): SessionState | undefined {
  return channel?.kind === 'session' ? (channel.mirror?.confirmed as SessionState | undefined) : undefined;
}
