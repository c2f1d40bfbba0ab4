/** The handle to one channel: its current state, its actions as they come, and a way to change it. */

import { optional } from '@atrium/link';
import type { ActionEnvelope, ChannelKind } from '@atrium/protocol/ahp-1';
import type { Channel } from './channel.js';
import type { ActionRejectedError } from './errors.js';
import type { DispatchedAction, DispatchOf, StateOf } from './kinds.js';
import type { Accepted } from './pending-actions.js';
import { type PendingAction, windowed } from './reconcile.js';
import { latest, Queue } from './streams.js';

/** What a handle needs of its client. */
export interface SubscriptionHost {
  dispatch(uri: string, action: DispatchedAction): Promise<Accepted>;
  loadOlder(channel: Channel, count: number): Promise<number>;
  release(channel: Channel): void;
}

export class Subscription<K extends ChannelKind = 'session'> implements AsyncIterable<StateOf<K>> {
  readonly uri: string;
  readonly #channel: Channel;
  readonly #host: SubscriptionHost;
  readonly #cleanUp = new Set<() => void>();
  #closed = false;

  /** Handles are made by `client.subscribe`. */
  constructor(channel: Channel, host: SubscriptionHost) {
    this.uri = channel.uri;
    this.#channel = channel;
    this.#host = host;
  }

  /** What a user should see: the confirmed state with own actions on top that the host has not echoed yet. */
  get state(): StateOf<K> {
    return this.#channel.optimistic as StateOf<K>;
  }

  /** What the host has acknowledged. */
  get confirmed(): StateOf<K> {
    return this.#channel.mirror?.confirmed as StateOf<K>;
  }

  /** Own actions that the host has not echoed yet, in order. */
  get pending(): readonly PendingAction[] {
    return this.#channel.mirror?.pending ?? [];
  }

  /** Whether a chat has turns that are older than those in the state; `loadOlder` brings them. */
  get hasOlder(): boolean {
    const { mirror } = this.#channel;
    return mirror !== undefined && windowed(mirror) !== undefined;
  }

  /** How many older turns there are; undefined when there are some and the host does not say how many. */
  get olderCount(): number | undefined {
    return this.hasOlder ? this.#channel.mirror?.older : 0;
  }

  /** Whether the channel was disposed, or is no longer permitted. The last known state stays readable. */
  get isGone(): boolean {
    return this.#channel.phase.at === 'gone';
  }

  /**
   * Shows the action in `state` at once and asks the host for it. Resolves when the host has accepted it; rejects with
   * an `ActionRejectedError` when it has not. You may ignore the promise. Without a connection the action waits for the
   * next one. `startedAt`, `duration` and the `origin` of a message may be left out.
   */
  dispatch(action: DispatchOf<K>): Promise<Accepted> {
    const { phase } = this.#channel;
    if (phase.at === 'gone') return optional(Promise.reject(phase.error));
    return this.#host.dispatch(this.uri, action as DispatchedAction);
  }

  onChange(listener: (state: StateOf<K>) => void): () => void {
    return this.#until(this.#channel.changed.on(() => listener(this.state)));
  }

  onRejected(listener: (error: ActionRejectedError) => void): () => void {
    return this.#until(this.#channel.rejected.on(listener));
  }

  onGone(listener: (error: Error) => void): () => void {
    return this.#until(this.#channel.gone.on(listener));
  }

  /** The state now, then whenever it has changed; a slow loop gets the latest and skips those in between. */
  [Symbol.asyncIterator](): AsyncGenerator<StateOf<K>, void, undefined> {
    return latest({
      current: () => this.state,
      ended: () => this.#closed || this.isGone,
      onChange: (listener) => this.#untilWith(this.#channel.changed.on(listener), listener),
    });
  }

  /**
   * Every accepted action from now on, in order. After a long absence the host sends the state instead of the actions
   * that were missed; the loop then skips these.
   */
  actions(): AsyncIterator<ActionEnvelope, void, undefined> & AsyncIterable<ActionEnvelope> {
    const queue = new Queue<ActionEnvelope>(() => stop());
    const offs = [this.#channel.acted.on((envelope) => queue.push(envelope)), this.#channel.gone.on(() => queue.end())];
    const off = () => {
      for (const each of offs) each();
    };
    const stop = this.#untilWith(off, () => queue.end());
    if (this.#closed || this.isGone) queue.end();
    return queue;
  }

  /**
   * Brings at least this many older turns of a chat into the state, in pages as large as the host makes them. Resolves
   * with how many came; 0 when there are no older ones.
   */
  loadOlder(count: number): Promise<number> {
    return this.#host.loadOlder(this.#channel, count);
  }

  /** Ends this handle, its listeners and its loops. The last one to a channel ends the subscription. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const stop of [...this.#cleanUp]) stop();
    this.#host.release(this.#channel);
  }

  #until(off: () => void): () => void {
    return this.#untilWith(off, () => {});
  }

  /** Runs `off` and `last` when the returned function is called or the handle is closed. */
  #untilWith(off: () => void, last: () => void): () => void {
    const stop = () => {
      this.#cleanUp.delete(stop);
      off();
      last();
    };
    this.#cleanUp.add(stop);
    return stop;
  }
}
