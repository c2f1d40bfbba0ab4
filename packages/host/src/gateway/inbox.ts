/**
 * The incoming messages of one provider: handled one after another, a few per turn of the event loop. A provider that
 * floods the gateway waits for the others, and all together use only a part of the host's time.
 */
import { performance } from 'node:perf_hooks';

/** A few milliseconds of work at most before other connections get their turn. */
export const MESSAGES_PER_TURN_MAX = 32;
/** A message of n times this length counts as n messages, because reading it takes as long. */
export const MESSAGE_CHARACTERS = 32 * 2 ** 10;
/** With this many messages waiting, the transport stops reading. */
export const WAITING_BEFORE_PAUSE = 256;
export const WAITING_CHARACTERS_BEFORE_PAUSE = 2 ** 20;
/**
 * A paused socket still delivers what it has read already; a transport that delivers more than this ignores the pause.
 */
export const WAITING_MAX_CHARACTERS = 64 * 2 ** 20;

export interface InboxOptions {
  /** Shared by all connections of the network; absent for providers in this process, which are part of the host. */
  readonly cpuBudget?: CpuBudget;
  /** Handles one message. Later messages wait for the returned promise, which never rejects. */
  take(text: string): void | Promise<void>;
  pause(): void;
  resume(): void;
  /** Called when more than `WAITING_MAX_CHARACTERS` wait. */
  overflow(): void;
}

export class Inbox {
  readonly #options: InboxOptions;
  #waiting: string[] = [];
  #characters = 0;
  /** How many messages this turn of the event loop may still take. */
  #remaining = MESSAGES_PER_TURN_MAX;
  #isBusy = false;
  #isPaused = false;
  #isRenewing = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  push(text: string): void {
    if (this.#waiting.length === 0 && this.#canTake()) return this.#take(text);
    this.#waiting.push(text);
    this.#characters += text.length;
    if (this.#characters > WAITING_MAX_CHARACTERS) return this.#options.overflow();
    if (this.#isFull()) this.#pause();
    if (this.#options.cpuBudget?.isExhausted) this.#waitForBudget();
  }

  /** Drops all waiting messages. */
  clear(): void {
    this.#waiting = [];
    this.#characters = 0;
    this.#options.cpuBudget?.forget(this.#continue);
  }

  #canTake(): boolean {
    return !this.#isBusy && this.#remaining > 0 && !this.#options.cpuBudget?.isExhausted;
  }

  #isFull(): boolean {
    return this.#waiting.length >= WAITING_BEFORE_PAUSE || this.#characters >= WAITING_CHARACTERS_BEFORE_PAUSE;
  }

  /** Also pauses the transport, because reading uses time of the same budget. */
  #waitForBudget(): void {
    this.#pause();
    this.#options.cpuBudget?.whenRefilled(this.#continue);
  }

  readonly #continue = (): void => this.#takeWaiting();

  #take(text: string): void {
    this.#remaining -= 1 + Math.floor(text.length / MESSAGE_CHARACTERS);
    this.#renew();
    const { cpuBudget } = this.#options;
    const work = cpuBudget ? cpuBudget.spend(text, () => this.#options.take(text)) : this.#options.take(text);
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
      this.#remaining = MESSAGES_PER_TURN_MAX;
      this.#takeWaiting();
    });
  }

  #takeWaiting(): void {
    const waiting = this.#waiting;
    let taken = 0;
    // A message may end the connection, which drops the rest.
    while (this.#waiting === waiting && taken < waiting.length && this.#canTake()) {
      const text = waiting[taken++] ?? '';
      this.#characters -= text.length;
      this.#take(text);
    }
    if (this.#waiting === waiting) this.#waiting = waiting.slice(taken);
    if (this.#waiting.length === 0) this.#resume();
    else if (this.#options.cpuBudget?.isExhausted) this.#waitForBudget();
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#options.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#options.resume();
  }
}

/** The part of every second that messages of providers may use when they never stop. */
export const PROVIDERS_CPU_SHARE = 0.2;
/** How much may be used at once after a quiet time; enough for any well-behaved provider. */
export const CREDIT_MAX_MS = 50;
/** The longest wait after the budget is exhausted; well-behaved providers have to wait, too. */
export const EXHAUSTED_MAX_MS = 250;
/** The most time in later turns of the event loop that counts for a message, because other work runs there, too. */
const AFTERWARDS_MAX_MS = 20;
/** The speed at which a transport reads, unmasks and decodes a message before it arrives here. */
const CHARACTERS_READ_PER_MS = 128 * 2 ** 10;

/**
 * The share of the host's time that messages of all providers may use together. A provider that floods the gateway uses
 * up this share and then waits, however many connections it has; the rest of the host hardly notices.
 */
export class CpuBudget {
  readonly #now: () => number;
  #creditMs = CREDIT_MAX_MS;
  #at: number;
  readonly #waiting = new Set<() => void>();
  #isExhausted = false;
  /** How much of the turns under measurement has been counted already; undefined outside a measurement. */
  #counted: number | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** Handles a message and counts the time that takes. */
  spend<T>(text: string, work: () => T): T {
    const began = this.#now();
    this.#measureAfterwards(began);
    try {
      return work();
    } finally {
      this.#take(this.#now() - began + text.length / CHARACTERS_READ_PER_MS);
    }
  }

  /** Calls `then` once, when budget is available again. */
  whenRefilled(then: () => void): void {
    this.#waiting.add(then);
  }

  /** Cancels `whenRefilled`. */
  forget(then: () => void): void {
    this.#waiting.delete(then);
  }

  /** Storing and showing what a message changed takes time in the next turns of the event loop, too. */
  #measureAfterwards(began: number): void {
    if (this.#counted !== undefined) return;
    this.#counted = 0;
    const done = () => {
      const uncounted = this.#now() - began - (this.#counted ?? 0);
      this.#take(Math.min(Math.max(0, uncounted), AFTERWARDS_MAX_MS));
      this.#counted = undefined;
    };
    setImmediate(() => setImmediate(done));
  }

  #take(spentMs: number): void {
    const now = this.#now();
    this.#creditMs = Math.min(CREDIT_MAX_MS, this.#creditMs + (now - this.#at) * PROVIDERS_CPU_SHARE) - spentMs;
    this.#at = now;
    if (this.#counted !== undefined) this.#counted += spentMs;
    this.#creditMs = Math.max(this.#creditMs, -EXHAUSTED_MAX_MS * PROVIDERS_CPU_SHARE);
    if (this.#creditMs < 0) this.#exhaust(-this.#creditMs / PROVIDERS_CPU_SHARE);
  }

  #exhaust(milliseconds: number): void {
    if (this.#isExhausted) return;
    this.#isExhausted = true;
    setTimeout(() => this.#refill(), milliseconds).unref();
  }

  /** A connection that gets no turn now waits again, after all others. */
  #refill(): void {
    this.#isExhausted = false;
    for (const then of [...this.#waiting]) {
      if (this.#isExhausted) return;
      this.#waiting.delete(then);
      then();
    }
  }
}
