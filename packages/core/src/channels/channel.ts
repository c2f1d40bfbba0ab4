/**
 * A channel: one state, the reducer that changes it, and who watches. There are two views of the state. `live` has every
 * accepted action in it and is what decisions look at; `committed` has only what is stored and shown, and is all that
 * anybody outside ever sees.
 */
import type { StateAction } from '@atrium/protocol/ahp-1';
import type { EntryOrigin } from '../log/log.js';

type Reduce<State> = (state: State, action: StateAction) => State;

export interface ChannelOptions {
  /** When something last happened here, in milliseconds since the epoch. */
  readonly lastTime?: number | undefined;
  /**
   * What happens here ends with the host, as the output of a terminal does: its numbers are stored, so that no client gets
   * them again, but not what happened under them.
   */
  readonly isEphemeral?: boolean;
}

/** One action with the state around it. It has no number before it is stored. */
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
  /** Where `live` goes back to when something cannot be stored. */
  #stored: State;
  #committed: State;
  /** How many actions are accepted and not stored yet, and how many are stored and not shown yet. */
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

  /** Whether everything that was accepted is stored and shown. An action may change nothing, so equal views do not tell. */
  get isSettled(): boolean {
    return this.#unstored + this.#unshown === 0;
  }

  /** The time to give to what happens now. The wall clock may jump back; what happens here never does. */
  timeAt(now: number): number {
    return Math.max(now, this.#lastTime);
  }

  /** Takes an action into the live view. Only the writer calls this. */
  accept(action: StateAction, origin: EntryOrigin | undefined, time: number): Step<State> {
    this.#unstored++;
    this.#lastTime = time;
    const before = this.#live;
    this.#live = this.reduce(before, action);
    return { action, origin, time, before, after: this.#live };
  }

  /** One action that was accepted is stored now. */
  markStored(after: State): void {
    this.#unstored--;
    this.#unshown++;
    this.#stored = after;
  }

  /** One action that was stored is shown now. */
  markShown(after: State): void {
    this.#unshown--;
    this.#committed = after;
  }

  /** What was accepted could not be stored: it never happened. */
  rollBack(): void {
    this.#unstored = 0;
    this.#live = this.#stored;
  }

  /** Replaces both views by one that means the same: more or less of it in memory. Not while something is under way. */
  replace(change: (state: State) => State): boolean {
    if (!this.isSettled) return false;
    this.#live = change(this.#live);
    this.#stored = this.#live;
    this.#committed = this.#live;
    return true;
  }
}
