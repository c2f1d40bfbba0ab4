/**
 * Notices a connection that is dead and does not say so. The gateway's own pings cannot be seen from a page, so now and
 * then, when nothing has been heard for a while, it is asked something that it has to answer.
 */
import type { Clock } from '@atrium/link';

/** After so long without a word, we ask. */
export const PULSE_AFTER_MS = 30_000;
/** A gateway that has not said anything by then is not there. */
export const PULSE_PATIENCE_MS = 10_000;

export interface PulseParts {
  readonly clock: Clock;
  /** Says something that has to be answered, whatever the answer; false when there is nothing to say. */
  ask(): boolean;
  /** Nobody answered. */
  silent(): void;
}

export class Pulse {
  readonly #parts: PulseParts;
  #heardAt = 0;
  #isAsked = false;
  #cancelTimer = () => {};

  constructor(parts: PulseParts) {
    this.#parts = parts;
  }

  /** There is a connection: from now on it is watched. */
  start(): void {
    this.heard();
    this.#waitFor(PULSE_AFTER_MS, () => this.#look());
  }

  /** Whatever it says, it is there. */
  heard(): void {
    this.#heardAt = this.#parts.clock.now();
    this.#isAsked = false;
  }

  stop(): void {
    this.#cancelTimer();
  }

  #look(): void {
    const { clock, ask, silent } = this.#parts;
    const leftMs = this.#heardAt + PULSE_AFTER_MS - clock.now();
    if (leftMs > 0) return this.#waitFor(leftMs, () => this.#look());
    this.#isAsked = ask();
    if (!this.#isAsked) return this.#waitFor(PULSE_AFTER_MS, () => this.#look());
    this.#waitFor(PULSE_PATIENCE_MS, () => (this.#isAsked ? silent() : this.#look()));
  }

  #waitFor(milliseconds: number, then: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#parts.clock.after(milliseconds, then);
  }
}
