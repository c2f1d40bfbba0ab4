/** The wire side of channels: subscribes, shares a subscription between handles, pages history in, unsubscribes. */

import type { Log, Outcome } from '@atrium/link';
import { type ChannelKind, channelKind, type SessionState, type SubscribeResult } from '@atrium/protocol';
import type { Channel } from './channel.js';
import { DisconnectedError, InvalidResultError, RequestError } from './errors.js';
import { type HandshakeResult, turnsWanted } from './handshake.js';
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

  /** Opens a channel with its state, or shares the open one. Waits for a connection if there is none. */
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

  /** The open channel, widened to the window that the new handle wants. */
  #share(uri: string, last: number | undefined): Channel | undefined {
    const channel = this.#store.find(uri);
    if (!channel) return undefined;
    channel.last = last === undefined || channel.last === undefined ? undefined : Math.max(last, channel.last);
    channel.update((mirror) => withWanted(mirror, last));
    return channel;
  }

  /** After a handshake: subscribes to every channel whose state it did not bring. */
  opened(peer: Peer, { by }: HandshakeResult): void {
    for (const channel of this.#store.channels) {
      const { phase } = channel;
      const unheard = by !== 'initialize' && !isStateful(channel.kind);
      if (phase.at === 'opening' || unheard || phase.mirror?.stale) this.#ask(peer, channel);
    }
  }

  /** Call it after an action: a truncation may have cut history below the window. */
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

  /**
   * The next connection retries after a disconnect. A refresh that fails without an answer of the host keeps the old
   * state.
   */
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

/** Sessions may have any scheme, but an unknown `ahp-` scheme belongs to a newer protocol. */
function isFuture(uri: string): boolean {
  return uri.startsWith('ahp-') && !uri.startsWith('ahp-session:') && channelKind(uri) === 'session';
}
