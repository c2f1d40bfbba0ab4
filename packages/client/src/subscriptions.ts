/** Subscribes, shares, pages and ends: the wire side of channels. */

import type { Log, Outcome } from '@atrium/link';
import { type ChannelKind, channelKind, type SessionState, type SubscribeResult } from '@atrium/protocol';
import type { Channel } from './channel.js';
import { DisconnectedError, InvalidResultError, RequestError } from './errors.js';
import { type Greeting, turnsWanted } from './handshake.js';
import type { Peer } from './peer.js';
import { startOf, type TurnWindow, withOlder, withWanted } from './reconcile.js';
import { isStateful } from './reducers.js';
import type { Store } from './store.js';

export class Subscriptions {
  readonly #store: Store;
  readonly #log: Log;
  /** The peer of an open connection. */
  readonly #peer: () => Peer | undefined;
  readonly #paging = new Map<Channel, Promise<number>>();

  constructor(store: Store, peer: () => Peer | undefined, log: Log) {
    this.#store = store;
    this.#peer = peer;
    this.#log = log;
  }

  /** A channel with its state, shared with whoever has it already. Waits for a connection if there is none. */
  async open(uri: string, kind: ChannelKind | undefined, turns: TurnWindow | undefined): Promise<Channel> {
    const actual = channelKind(uri);
    if (isFuture(uri)) throw new TypeError(`${uri}: this client does not know channels of that kind`);
    if (kind && kind !== actual) throw new TypeError(`${uri} is a ${actual} channel, not a ${kind} one`);
    const channel = this.#share(uri, turns?.last) ?? this.#store.add(uri, turns?.last);
    channel.handles += 1;
    const { phase } = channel;
    if (phase.at !== 'opening' && !phase.mirror?.stale) return channel;
    const settled = channel.settled();
    this.#askIfNeeded(channel);
    try {
      await settled;
      return channel;
    } catch (error) {
      this.release(channel);
      throw error;
    }
  }

  /** The channel that exists already, made to hold what the newcomer wants of it. */
  #share(uri: string, last: number | undefined): Channel | undefined {
    const channel = this.#store.find(uri);
    if (!channel) return undefined;
    channel.last = last === undefined || channel.last === undefined ? undefined : Math.max(last, channel.last);
    channel.update((mirror) => withWanted(mirror, last));
    return channel;
  }

  /** A new connection: asks for all that the handshake did not bring. */
  opened(peer: Peer, { by }: Greeting): void {
    for (const channel of this.#store.channels) {
      const { phase } = channel;
      const unheard = by !== 'initialize' && !isStateful(channel.kind);
      if (phase.at === 'opening' || unheard || phase.mirror?.stale) this.#ask(peer, channel);
    }
  }

  /** An action arrived that may have cut history below what is held. */
  refreshIfStale(uri: string): void {
    const channel = this.#store.find(uri);
    if (channel?.mirror?.stale) this.#askIfNeeded(channel);
  }

  release(channel: Channel): void {
    channel.handles -= 1;
    if (channel.handles > 0 || this.#store.find(channel.uri) !== channel) return;
    this.#store.remove(channel);
    this.#peer()?.notify('unsubscribe', { channel: channel.uri });
  }

  /** One page at a time: a second call during a first one gets the same page. */
  loadOlder(peer: Peer, channel: Channel, limit: number): Promise<number> {
    const running = this.#paging.get(channel);
    if (running) return running;
    const page = this.#page(peer, channel, limit).finally(() => this.#paging.delete(channel));
    this.#paging.set(channel, page);
    return page;
  }

  async #page(peer: Peer, channel: Channel, limit: number): Promise<number> {
    const { mirror } = channel;
    if (channel.kind !== 'session' || !mirror || mirror.start === 0 || limit <= 0) return 0;
    const before = (mirror.confirmed as SessionState).turns[0]?.id;
    const params = { channel: channel.uri, limit, ...(before === undefined ? {} : { before }) };
    const page = await peer.request('fetchTurns', params);
    let loaded = 0;
    channel.update((current) => {
      const next = withOlder(current, { before, ...page });
      loaded = next === current ? 0 : page.turns.length;
      return next;
    });
    return loaded;
  }

  #askIfNeeded(channel: Channel): void {
    const peer = this.#peer();
    if (peer && !channel.expectsSnapshot) this.#ask(peer, channel);
  }

  #ask(peer: Peer, channel: Channel): void {
    channel.expectSnapshot();
    const last = channel.kind === 'session' ? turnsWanted(channel) : undefined;
    const params = { channel: channel.uri, ...(last === undefined ? {} : { turns: { last } }) };
    peer.call('subscribe', params, (outcome) => {
      if (this.#store.find(channel.uri) === channel) this.#answered(peer, channel, outcome);
    });
  }

  #answered(peer: Peer, channel: Channel, outcome: Outcome<SubscribeResult>): void {
    const error = outcome.ok ? this.#install(channel, outcome.value) : outcome.error;
    if (error) this.#failed(peer, channel, error);
  }

  #install(channel: Channel, result: SubscribeResult): Error | undefined {
    const turns = 'turns' in result ? result.turns : undefined;
    if (this.#store.install(channel, result.snapshot, startOf(turns))) return undefined;
    return new InvalidResultError('subscribe', `no state of a ${channel.kind} channel`);
  }

  /** Lost connections are tried again by the next one. A refresh that fails without a verdict leaves the old state. */
  #failed(peer: Peer, channel: Channel, error: Error): void {
    if (error instanceof DisconnectedError) return;
    const isVerdict = error instanceof RequestError;
    if (!isVerdict) this.#log(`no snapshot of ${channel.uri}`, error);
    if (!isVerdict && channel.phase.at === 'live') {
      channel.snapshotFailed(error);
      return;
    }
    if (!isVerdict) peer.notify('unsubscribe', { channel: channel.uri });
    this.#store.lose(channel, error);
  }
}

/** Sessions may have any scheme, but those of the protocol's own family mean something, and this one is not known here. */
function isFuture(uri: string): boolean {
  return uri.startsWith('ahp-') && !uri.startsWith('ahp-session:') && channelKind(uri) === 'session';
}
