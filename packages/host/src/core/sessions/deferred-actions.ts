/**
 * Actions that wait for the end of the turn: a turn keeps the model and the agent it began with. They are stored while
 * they wait, because some clients are told at once that they will be taken.
 */
import type { SessionAction } from '@atrium/protocol';
import type { Asker } from '../channels/open-channel.js';
import type { EntryOrigin } from '../log/log.js';
import { HELD_ACTIONS_MAX } from './limits.js';
import type { SessionParts } from './session.js';

export interface Held {
  readonly action: SessionAction;
  readonly origin: EntryOrigin;
}

export class DeferredActions {
  #held: readonly Held[] = [];

  constructor(private readonly parts: Pick<SessionParts, 'writer' | 'deferrals' | 'notes' | 'channel'>) {}

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  get isFull(): boolean {
    return this.#held.length >= HELD_ACTIONS_MAX;
  }

  has(origin: EntryOrigin): boolean {
    return this.#held.some((held) => isSame(held.origin, origin));
  }

  hold(action: SessionAction, origin: EntryOrigin, asker: Asker): void {
    if (!this.has(origin)) this.#set([...this.#held, { action, origin }]);
    this.parts.deferrals.held(origin);
    asker.deferred(origin);
  }

  /** Applies everything that was held, in the order it came. */
  release(apply: (action: SessionAction, origin: EntryOrigin) => void): void {
    const held = this.#held;
    if (held.length === 0) return;
    this.#set([]);
    this.parts.writer.afterFailure(() => this.restore(held));
    for (const { action, origin } of held) apply(action, origin);
  }

  /** What waited when the host died, or when the end of the turn could not be stored, waits again: before what came since. */
  restore(held: readonly Held[]): void {
    const since = this.#held.filter(({ origin }) => !held.some((earlier) => isSame(earlier.origin, origin)));
    this.#held = [...held, ...since];
  }

  #set(held: readonly Held[]): void {
    this.#held = held;
    this.parts.notes.setHeld(this.parts.channel.uri, held);
  }
}

function isSame(a: EntryOrigin, b: EntryOrigin): boolean {
  return a.clientId === b.clientId && a.epoch === b.epoch && a.clientSeq === b.clientSeq;
}
