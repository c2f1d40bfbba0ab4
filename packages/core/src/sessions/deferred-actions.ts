/**
 * Actions that wait for the end of the turn, because a turn keeps the model and the agent that it began with. They are
 * stored while they wait, because some clients are told at once that they are accepted.
 */
import type { SelectionChangedAction } from '@atrium/protocol/ahp-1';
import type { ActionSender } from '../channels/open-channel.js';
import type { EntryOrigin } from '../log/log.js';
import { DEFERRED_ACTIONS_MAX } from './limits.js';
import type { SessionOptions } from './session.js';

export interface DeferredAction {
  readonly action: SelectionChangedAction;
  readonly origin: EntryOrigin;
}

export class DeferredActions {
  #deferred: readonly DeferredAction[] = [];

  constructor(private readonly options: Pick<SessionOptions, 'writer' | 'deferrals' | 'records' | 'channel'>) {}

  get isEmpty(): boolean {
    return this.#deferred.length === 0;
  }

  get isFull(): boolean {
    return this.#deferred.length >= DEFERRED_ACTIONS_MAX;
  }

  has(origin: EntryOrigin): boolean {
    return this.#deferred.some((deferred) => isSame(deferred.origin, origin));
  }

  defer(action: SelectionChangedAction, origin: EntryOrigin, asker: ActionSender): void {
    if (!this.has(origin)) this.#set([...this.#deferred, { action, origin }]);
    this.options.deferrals.deferred(origin);
    asker.deferred(origin);
  }

  /** Applies all deferred actions, in the order they came. */
  release(apply: (action: SelectionChangedAction, origin: EntryOrigin) => void): void {
    const deferred = this.#deferred;
    if (deferred.length === 0) return;
    this.#set([]);
    this.options.writer.afterFailure(() => this.restore(deferred));
    for (const { action, origin } of deferred) apply(action, origin);
  }

  /**
   * Makes actions wait again, after the host died or the end of the turn could not be stored. They go before those that
   * came since.
   */
  restore(deferred: readonly DeferredAction[]): void {
    const since = this.#deferred.filter(({ origin }) => !deferred.some((earlier) => isSame(earlier.origin, origin)));
    this.#deferred = [...deferred, ...since];
  }

  #set(deferred: readonly DeferredAction[]): void {
    this.#deferred = deferred;
    this.options.records.setDeferred(this.options.channel.uri, deferred);
  }
}

function isSame(a: EntryOrigin, b: EntryOrigin): boolean {
  return a.clientId === b.clientId && a.epoch === b.epoch && a.clientSeq === b.clientSeq;
}
