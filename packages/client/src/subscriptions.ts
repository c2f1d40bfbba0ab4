/** The wire side of channels: subscribes, shares a subscription between handles, pages history in, unsubscribes. */

import type { Log, Outcome } from '@atrium/link';
import type { ActionEnvelope, SubscribeResult } from '@atrium/protocol/ahp-1';
import type { Channel, ChannelRequest } from './channel.js';
import { DisconnectedError, InvalidResultError, RequestError } from './errors.js';
import { type HandshakeResult, turnsToRequest } from './handshake.js';
import { isStateful } from './kinds.js';
import type { Peer } from './peer.js';
import { asStale, olderOf, windowed, withRequestedTurns } from './reconcile.js';
import { asChat } from './reducers.js';
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
  async open(request: ChannelRequest): Promise<Channel> {
    const channel = this.#share(request) ?? this.#store.add(request);
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
  #share({ uri, kind, last }: ChannelRequest): Channel | undefined {
    const channel = this.#store.find(uri);
    if (!channel) return undefined;
    if (channel.kind !== kind) throw new TypeError(`${uri} is open as a ${channel.kind} channel, not a ${kind} one`);
    channel.last = last === undefined || channel.last === undefined ? undefined : Math.max(last, channel.last);
    channel.update((mirror) => withRequestedTurns(mirror, last));
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

  /** Call it after an action: some make a state doubtful, which is then read again. */
  acted({ channel: uri, action }: ActionEnvelope): void {
    const channel = this.#store.find(uri);
    // A page that is on its way may hold turns that the action has just cut off.
    if (action.type === 'chat/truncated' && channel && this.#paging.has(channel)) channel.update(asStale);
    if (channel?.mirror?.stale) this.#askIfNeeded(channel);
    // A chat that left its session is gone, or moved: the host knows.
    if (action.type === 'session/chatRemoved') this.refresh(action.chat);
  }

  /** Reads the state of a channel again, if it is open. */
  refresh(uri: string): void {
    const channel = this.#store.find(uri);
    channel?.update(asStale);
    if (channel?.mirror?.stale) this.#askIfNeeded(channel);
  }

  release(channel: Channel): void {
    channel.handles -= 1;
    if (channel.handles > 0 || this.#store.find(channel.uri) !== channel) return;
    this.#store.remove(channel);
    this.#peer()?.notify('unsubscribe', { channel: channel.uri });
  }

  /** One call at a time: a second one during a first gets the same pages. */
  loadOlder(peer: Peer, channel: Channel, count: number): Promise<number> {
    const running = this.#paging.get(channel);
    if (running) return running;
    const pages = this.#loadPages(peer, channel, count).finally(() => this.#paging.delete(channel));
    this.#paging.set(channel, pages);
    return pages;
  }

  /** The host decides how large a page is, and sends it as an action before it answers. */
  async #loadPages(peer: Peer, channel: Channel, count: number): Promise<number> {
    const held = () => asChat(channel.kind, channel.mirror?.confirmed)?.turns.length ?? 0;
    const cursorNow = () => channel.mirror && windowed(channel.mirror)?.turnsNextCursor;
    const before = held();
    while (held() - before < count && !channel.mirror?.stale) {
      const cursor = cursorNow();
      if (cursor === undefined) break;
      await peer.request('fetchTurns', { channel: channel.uri, cursor });
      // Otherwise a host that returns the same cursor would keep this loop running for ever.
      if (cursorNow() === cursor) break;
    }
    return Math.max(0, held() - before);
  }

  #askIfNeeded(channel: Channel): void {
    const peer = this.#peer();
    if (peer && !channel.expectsSnapshot) this.#ask(peer, channel);
  }

  #ask(peer: Peer, channel: Channel): void {
    channel.expectSnapshot();
    const turns = channel.kind === 'chat' ? turnsToRequest(channel) : undefined;
    const params = { channel: channel.uri, ...(turns === undefined ? {} : { view: { turns } }) };
    peer.call('subscribe', params, (outcome) => {
      if (this.#store.find(channel.uri) === channel) this.#answered(peer, channel, outcome);
    });
  }

  #answered(peer: Peer, channel: Channel, outcome: Outcome<SubscribeResult>): void {
    const error = outcome.ok ? this.#install(channel, outcome.value) : outcome.error;
    if (error) this.#failed(peer, channel, error);
  }

  #install(channel: Channel, result: SubscribeResult): Error | undefined {
    const position = 'turns' in result ? result.turns : undefined;
    if (this.#store.install(channel, result.snapshot, olderOf(position))) return undefined;
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
