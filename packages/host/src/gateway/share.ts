/**
 * The part of the host's time that messages of all providers together may take. Who floods the gateway uses up this
 * part and then waits, however many connections it has; the rest of the host hardly notices.
 */
import { performance } from 'node:perf_hooks';

/** Of every second, so much may go into messages of providers when they never stop. */
export const PROVIDERS_SHARE = 0.2;
/** What may be used at once after a quiet time: enough for any honest provider. */
export const CREDIT_MAX_MS = 50;
/** The longest that everybody waits: also honest providers are among them. */
export const REST_MAX_MS = 250;
/** Of what happens beside a message, in the same turns of the event loop, not everything is its doing. */
const BESIDE_MAX_MS = 20;
/** What a transport did before a message came here: it was read, unmasked and decoded. */
const CHARACTERS_READ_PER_MS = 128 * 2 ** 10;

export class Share {
  readonly #now: () => number;
  #creditMs = CREDIT_MAX_MS;
  #at: number;
  readonly #waiting = new Set<() => void>();
  #isResting = false;
  /** What was counted already of the turns of the event loop that are being watched. */
  #counted: number | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  /** All of it is used up; nobody works until there is some again. */
  get isResting(): boolean {
    return this.#isResting;
  }

  /** Works on a message, and counts what that took. */
  spend<T>(text: string, work: () => T): T {
    const began = this.#now();
    this.#watch(began);
    try {
      return work();
    } finally {
      this.#take(this.#now() - began + text.length / CHARACTERS_READ_PER_MS);
    }
  }

  /** Calls back when the rest is over. Asking twice is asking once. */
  whenRested(then: () => void): void {
    this.#waiting.add(then);
  }

  /** Somebody does not wait any more. */
  forget(then: () => void): void {
    this.#waiting.delete(then);
  }

  /** What a message changes is stored and shown in the next turn of the event loop, and that takes time, too. */
  #watch(began: number): void {
    if (this.#counted !== undefined) return;
    this.#counted = 0;
    const done = () => {
      const uncounted = this.#now() - began - (this.#counted ?? 0);
      this.#take(Math.min(Math.max(0, uncounted), BESIDE_MAX_MS));
      this.#counted = undefined;
    };
    setImmediate(() => setImmediate(done));
  }

  #take(spentMs: number): void {
    const now = this.#now();
    this.#creditMs = Math.min(CREDIT_MAX_MS, this.#creditMs + (now - this.#at) * PROVIDERS_SHARE) - spentMs;
    this.#at = now;
    if (this.#counted !== undefined) this.#counted += spentMs;
    this.#creditMs = Math.max(this.#creditMs, -REST_MAX_MS * PROVIDERS_SHARE);
    if (this.#creditMs < 0) this.#rest(-this.#creditMs / PROVIDERS_SHARE);
  }

  #rest(milliseconds: number): void {
    if (this.#isResting) return;
    this.#isResting = true;
    setTimeout(() => this.#wake(), milliseconds).unref();
  }

  /** Whoever does not get its turn now waits again, behind all others. */
  #wake(): void {
    this.#isResting = false;
    for (const then of [...this.#waiting]) {
      if (this.#isResting) return;
      this.#waiting.delete(then);
      then();
    }
  }
}
