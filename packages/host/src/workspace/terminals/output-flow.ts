/**
 * Moves a program's output into the terminal's channel. Output within a few milliseconds, or during a store, becomes
 * one action. When too much waits to be stored, or to be sent even to the fastest subscriber, the program is paused.
 */

import { STORE_RETRY_MS } from '@atrium/core/channels/limits.js';
import type { Writer } from '@atrium/core/channels/writer.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import type { TerminalAction } from '@atrium/protocol/ahp-1';

/**
 * The output of a busy program is written at this interval, or earlier once it reaches this amount. Output after a
 * pause is written at once.
 */
export const GATHER_MS = 8;
export const GATHER_MAX_CHARACTERS = 64 * 2 ** 10;
/** Output that was read but not stored yet: the program pauses above the first limit and resumes below the second. */
export const UNSTORED_HIGH_CHARACTERS = 256 * 2 ** 10;
export const UNSTORED_LOW_CHARACTERS = 64 * 2 ** 10;
/** The same limits for output that waits for the fastest subscriber. */
export const UNSENT_HIGH_BYTES = 2 * 2 ** 20;
export const UNSENT_LOW_BYTES = 512 * 2 ** 10;
/** How long a program waits for subscribers at a time, so that no subscriber blocks it for good. */
export const UNSENT_WAIT_MAX_MS = 1_000;
export const UNSENT_POLL_MS = 5;

/** The approximate size of an action that is not output. */
const ACTION_CHARACTERS = 256;

export interface FlowOptions {
  readonly clock: Clock;
  readonly writer: Pick<Writer, 'afterCommit' | 'afterFailure'>;
  /** Writes a batch of actions to the channel. */
  write(actions: readonly TerminalAction[]): void;
  /** Bytes that wait for the fastest subscriber; 0 without subscribers. */
  unsent(): number;
  pause(): void;
  resume(): void;
}

export class Flow {
  readonly #options: FlowOptions;
  #waiting: TerminalAction[] = [];
  #waitingCharacters = 0;
  /** Written, but perhaps not stored yet. */
  #unstored: readonly TerminalAction[] = [];
  #state: 'idle' | 'due' | 'storing' | 'stopped' = 'idle';
  #lastWrite = 0;
  /** Flushes now instead of in a moment. */
  #hurry: (() => void) | undefined;
  #isPaused = false;
  /** The subscribers did not catch up in time, so the program does not wait for them again until one has. */
  #isImpatient = false;
  #drained: (() => void)[] = [];

  constructor(options: FlowOptions) {
    this.#options = options;
  }

  output(data: string): void {
    if (this.#state === 'stopped') return;
    const last = this.#waiting.at(-1);
    if (last?.type === 'terminal/data') this.#waiting[this.#waiting.length - 1] = { ...last, data: last.data + data };
    else this.#waiting.push({ type: 'terminal/data', data });
    this.#added(data.length);
  }

  act(...actions: readonly TerminalAction[]): void {
    if (this.#state === 'stopped') return;
    this.#waiting.push(...actions);
    this.#added(actions.length * ACTION_CHARACTERS);
  }

  /** Resolves when everything so far is stored, or never will be. */
  drained(): Promise<void> {
    const isDone = this.#state === 'idle' || this.#state === 'stopped';
    return isDone ? Promise.resolve() : new Promise((resolve) => this.#drained.push(resolve));
  }

  /** Stops writing: the terminal is gone. */
  stop(): void {
    this.#state = 'stopped';
    this.#hurry = undefined;
    // A program whose output is not read never ends.
    if (this.#isPaused) this.#options.resume();
    this.#isPaused = false;
    this.#settle();
  }

  get #isMuch(): boolean {
    return this.#waitingCharacters > GATHER_MAX_CHARACTERS;
  }

  #added(characters: number): void {
    this.#waitingCharacters += characters;
    if (this.#waitingCharacters > UNSTORED_HIGH_CHARACTERS) this.#pause();
    if (this.#state === 'idle') this.#schedule();
    else if (this.#isMuch) this.#hurry?.();
  }

  /** Writes at once after a quiet moment, so that a typed key shows immediately. */
  #schedule(): void {
    this.#state = 'due';
    const flush = (): void => {
      cancel();
      this.#hurry = undefined;
      setImmediate(() => this.#flush());
    };
    const wait = this.#isMuch ? 0 : this.#lastWrite + GATHER_MS - performance.now();
    const cancel = systemClock.after(Math.max(0, wait), flush);
    this.#hurry = flush;
    if (wait <= 0) flush();
  }

  #flush(): void {
    if (this.#state === 'stopped') return;
    const { writer, write } = this.#options;
    this.#unstored = this.#waiting;
    this.#waiting = [];
    this.#waitingCharacters = 0;
    this.#state = 'storing';
    this.#lastWrite = performance.now();
    write(this.#unstored);
    writer.afterCommit(() => this.#stored());
    writer.afterFailure(() => this.#again());
  }

  #stored(): void {
    if (this.#state === 'stopped') return;
    this.#unstored = [];
    this.#state = 'idle';
    this.#letOn();
    if (this.#waiting.length === 0) return this.#settle();
    this.#schedule();
  }

  /** Writes actions that could not be stored again, before later ones. */
  #again(): void {
    if (this.#state === 'stopped') return;
    this.#waiting = [...this.#unstored, ...this.#waiting];
    this.#unstored = [];
    this.#options.clock.after(STORE_RETRY_MS, () => this.#flush());
  }

  #settle(): void {
    const drained = this.#drained;
    this.#drained = [];
    for (const resolve of drained) resolve();
  }

  #pause(): void {
    if (!this.#isPaused) this.#options.pause();
    this.#isPaused = true;
  }

  /** Resumes a paused program as soon as a subscriber has read its output, or none has for long enough. */
  #letOn(waitedMs = 0): void {
    const unsent = this.#options.unsent();
    if (unsent <= UNSENT_LOW_BYTES) this.#isImpatient = false;
    else if (waitedMs >= UNSENT_WAIT_MAX_MS) this.#isImpatient = true;
    const mustWait = unsent > UNSENT_LOW_BYTES && !this.#isImpatient;
    if (mustWait && unsent > UNSENT_HIGH_BYTES) this.#pause();
    if (!this.#isPaused || this.#waitingCharacters > UNSTORED_LOW_CHARACTERS) return;
    if (mustWait) return this.#recheck(waitedMs + UNSENT_POLL_MS);
    this.#isPaused = false;
    this.#options.resume();
  }

  #recheck(waitedMs: number): void {
    this.#options.clock.after(UNSENT_POLL_MS, () => this.#letOn(waitedMs));
  }
}
