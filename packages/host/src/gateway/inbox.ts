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

export class CpuBudget {
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

/**
 * What one provider sends, on its way in: one message after the other, and only some in each turn of the event loop. A
 * provider that floods the gateway waits for the others, not they for it.
 */

/** A few milliseconds of work at most, before everybody else has a turn. */
export const MESSAGES_PER_TURN_MAX = 32;
/** A long message counts as several: reading it takes as long. */
export const MESSAGE_CHARACTERS = 32 * 2 ** 10;
/** From here on the transport stops reading. */
export const WAITING_BEFORE_PAUSE = 256;
export const WAITING_CHARACTERS_BEFORE_PAUSE = 2 ** 20;
/** A paused socket still delivers what it had read; a transport that goes on beyond this cannot be slowed down. */
export const WAITING_MAX_CHARACTERS = 64 * 2 ** 20;

export interface InboxParts {
  /** What all providers together may take of the host's time; those in this process are part of the host. */
  readonly cpuBudget?: CpuBudget;
  /** Works on one message. While a promise is open, later messages wait; it never rejects. */
  take(text: string): void | Promise<void>;
  pause(): void;
  resume(): void;
  /** More waits than there is room for. */
  overflow(): void;
}

export class Inbox {
  readonly #parts: InboxParts;
  #waiting: string[] = [];
  #characters = 0;
  /** How many may still be taken in this turn of the event loop. */
  #left = MESSAGES_PER_TURN_MAX;
  #isBusy = false;
  #isPaused = false;
  #isRenewing = false;

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  push(text: string): void {
    if (this.#waiting.length === 0 && this.#mayTake()) return this.#take(text);
    this.#waiting.push(text);
    this.#characters += text.length;
    if (this.#characters > WAITING_MAX_CHARACTERS) return this.#parts.overflow();
    if (this.#isFull()) this.#pause();
    if (this.#parts.cpuBudget?.isResting) this.#waitForShare();
  }

  /** Nothing of what waits counts any more. */
  clear(): void {
    this.#waiting = [];
    this.#characters = 0;
    this.#parts.cpuBudget?.forget(this.#goOn);
  }

  #mayTake(): boolean {
    return !this.#isBusy && this.#left > 0 && !this.#parts.cpuBudget?.isResting;
  }

  #isFull(): boolean {
    return this.#waiting.length >= WAITING_BEFORE_PAUSE || this.#characters >= WAITING_CHARACTERS_BEFORE_PAUSE;
  }

  /** What the transport reads meanwhile would take time, too. */
  #waitForShare(): void {
    this.#pause();
    this.#parts.cpuBudget?.whenRested(this.#goOn);
  }

  readonly #goOn = (): void => this.#takeWaiting();

  #take(text: string): void {
    this.#left -= 1 + Math.floor(text.length / MESSAGE_CHARACTERS);
    this.#renew();
    const { cpuBudget } = this.#parts;
    const work = cpuBudget ? cpuBudget.spend(text, () => this.#parts.take(text)) : this.#parts.take(text);
    if (!work) return;
    this.#isBusy = true;
    void work.then(() => {
      this.#isBusy = false;
      this.#takeWaiting();
    });
  }

  #renew(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    setImmediate(() => {
      this.#isRenewing = false;
      this.#left = MESSAGES_PER_TURN_MAX;
      this.#takeWaiting();
    });
  }

  #takeWaiting(): void {
    const waiting = this.#waiting;
    let taken = 0;
    // A message may end the connection, and then the rest is not looked at.
    while (this.#waiting === waiting && taken < waiting.length && this.#mayTake()) {
      const text = waiting[taken++] ?? '';
      this.#characters -= text.length;
      this.#take(text);
    }
    if (this.#waiting === waiting) this.#waiting = waiting.slice(taken);
    if (this.#waiting.length === 0) this.#resume();
    else if (this.#parts.cpuBudget?.isResting) this.#waitForShare();
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#parts.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#parts.resume();
  }
}
