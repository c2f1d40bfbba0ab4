/**
 * A channel: one state and the reducer that changes it. It keeps two views of the state. `live` includes every accepted
 * action, and decisions look at it; `committed` includes only what is stored and shown, and is all that anyone outside
 * sees.
 */
import type { StateAction } from '@atrium/protocol/ahp-1';
import type { EntryOrigin } from '../log/log.js';

type Reduce<State> = (state: State, action: StateAction) => State;

export interface ChannelOptions {
  /** When the last action was accepted, in milliseconds since the epoch. */
  readonly lastTime?: number | undefined;
  /**
   * The channel ends with the host, as a terminal does. The log stores the numbers of its actions, so that no client
   * gets them again, but not the actions.
   */
  readonly isEphemeral?: boolean;
}

/** One action, with the state before and after it. It gets its number when it is stored. */
export interface Step<State = unknown> {
  readonly action: StateAction;
  /** The client that asked for it; undefined when the host did. */
  readonly origin: EntryOrigin | undefined;
  readonly time: number;
  readonly before: State;
  readonly after: State;
}

export class Channel<State = unknown> {
  #live: State;
  /** The state that `live` returns to when an action cannot be stored. */
  #stored: State;
  #committed: State;
  /**
   * `#unstored` counts actions that are accepted but not stored yet, `#unshown` those that are stored but not shown
   * yet.
   */
  #unstored = 0;
  #unshown = 0;
  #lastTime: number;
  readonly isEphemeral: boolean;

  constructor(
    readonly uri: string,
    readonly reduce: Reduce<State>,
    initial: State,
    { lastTime = 0, isEphemeral = false }: ChannelOptions = {},
  ) {
    this.#live = initial;
    this.#stored = initial;
    this.#committed = initial;
    this.#lastTime = lastTime;
    this.isEphemeral = isEphemeral;
  }

  get live(): State {
    return this.#live;
  }

  get committed(): State {
    return this.#committed;
  }

  /**
   * True when every accepted action is stored and shown. Comparing the two views would not tell: an action may change
   * nothing.
   */
  get isSettled(): boolean {
    return this.#unstored + this.#unshown === 0;
  }

  /**
   * The time to record for an action accepted now. The wall clock may jump back; the time within a channel never does.
   */
  timeAt(now: number): number {
    return Math.max(now, this.#lastTime);
  }

  /** Applies an action to the live view. Only the writer and the delivery call this. */
  accept(action: StateAction, origin: EntryOrigin | undefined, time: number): Step<State> {
    this.#unstored++;
    this.#lastTime = time;
    const before = this.#live;
    this.#live = this.reduce(before, action);
    return { action, origin, time, before, after: this.#live };
  }

  /** Counts one accepted action as stored. */
  markStored(after: State): void {
    this.#unstored--;
    this.#unshown++;
    this.#stored = after;
  }

  /** Counts one stored action as shown, and moves the committed view to it. */
  markShown(after: State): void {
    this.#unshown--;
    this.#committed = after;
  }

  /** Returns to the stored state: the accepted actions could not be stored, so they never happened. */
  rollBack(): void {
    this.#unstored = 0;
    this.#live = this.#stored;
  }

  /**
   * Replaces both views by an equivalent state that holds more or less in memory. Refuses, with false, while an action
   * is under way.
   */
  replace(change: (state: State) => State): boolean {
    if (!this.isSettled) return false;
    this.#live = change(this.#live);
    this.#stored = this.#live;
    this.#committed = this.#live;
    return true;
  }
}
