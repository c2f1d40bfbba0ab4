/** Where what a client has sent waits for its turn: one after the other in the order it came, lane by lane. */

import type { Lane } from '../contracts/service.js';
import { INBOUND_MAX_CHARACTERS, INBOUND_MAX_MESSAGES } from '../limits.js';

/** Nothing that waits may fail: whoever waits behind it would never have its turn. */
type Work = () => Promise<void>;

export class Lanes {
  #main: Promise<void> = Promise.resolve();
  #aside: Promise<void> = Promise.resolve();
  #waiting = 0;
  #waitingCharacters = 0;

  /** `onTooMany` is called when more waits than anybody may let wait. */
  constructor(private readonly onTooMany: () => void) {}

  enter(work: Work, lane: Lane = 'main', characters = 0): void {
    this.#waiting++;
    this.#waitingCharacters += characters;
    const isTooMany = this.#waiting > INBOUND_MAX_MESSAGES || this.#waitingCharacters > INBOUND_MAX_CHARACTERS;
    if (isTooMany) return this.onTooMany();
    const done = () => {
      this.#waiting--;
      this.#waitingCharacters -= characters;
    };
    if (lane === 'main') this.#main = this.#main.then(work).finally(done);
    else if (lane === 'aside') this.#aside = this.#aside.then(work).finally(done);
    else void work().finally(done);
  }

  /** When all is done that is not waiting for a person. */
  async emptied(): Promise<void> {
    await Promise.all([this.#main, this.#aside]);
  }
}
