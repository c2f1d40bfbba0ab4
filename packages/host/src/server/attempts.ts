/**
 * How often strangers may try. Failed credentials count per address and for all addresses together. Past the limit the
 * next attempt waits before its token is checked, so nobody guesses faster by not waiting for the answer. Upgrades have
 * a plain limit. Failures elsewhere never slow a program on this machine.
 */
import { isLocal, type RequestSource } from './forwarded.js';
import {
  ADDRESSES_COUNTED_MAX,
  ATTEMPT_DELAY_MAX_MS,
  ATTEMPT_DELAY_STEP_MS,
  ATTEMPTS_WAITING_MAX,
  FAILURES_PER_ADDRESS_MAX,
  FAILURES_TOTAL_MAX,
  RATE_WINDOW_MS,
  UPGRADES_PER_ADDRESS_MAX,
  UPGRADES_TOTAL_MAX,
} from './limits.js';
import { countedNetwork } from './peer-address.js';

/** A level that each event raises by one, and that falls to zero from `max` within the window. */
class Level {
  #level = 0;
  #since: number;

  constructor(
    readonly max: number,
    now: number,
  ) {
    this.#since = now;
  }

  at(now: number): number {
    const passed = Math.max(0, now - this.#since);
    this.#level = Math.max(0, this.#level - (passed * this.max) / RATE_WINDOW_MS);
    this.#since = now;
    return this.#level;
  }

  /** The level stops at the longest wait, so that the address is free again a few minutes after the last event. */
  add(now: number): void {
    this.#level = Math.min(this.at(now) + 1, this.max + ATTEMPT_DELAY_MAX_MS / ATTEMPT_DELAY_STEP_MS);
  }

  /** Events above the limit. */
  excess(now: number): number {
    return Math.max(0, this.at(now) - this.max + 1);
  }
}

interface Counted {
  readonly failures: Level;
  readonly upgrades: Level;
  /** Attempts that wait until their token is checked. */
  waiting: number;
  /** The right token came from this address, so failures of others do not slow it. */
  isKnown: boolean;
}

/** `wait`: how long until the token may be checked. Call `done` then, or when the peer has left. */
export type Turn =
  | { readonly kind: 'now' }
  | { readonly kind: 'wait'; readonly ms: number; done(): void }
  | { readonly kind: 'refused'; readonly seconds: number };

const NOW: Turn = { kind: 'now' };

export class Attempts {
  readonly #now: () => number;
  /** The address with the oldest count comes first. */
  readonly #addresses = new Map<string, Counted>();
  readonly #failures: Level;
  readonly #upgrades: Level;

  /** `now` returns milliseconds of a clock that never jumps. */
  constructor(now: () => number) {
    this.#now = now;
    this.#failures = new Level(FAILURES_TOTAL_MAX, now());
    this.#upgrades = new Level(UPGRADES_TOTAL_MAX, now());
  }

  /** How many addresses are being counted. */
  get size(): number {
    return this.#addresses.size;
  }

  /**
   * Counts an upgrade; false when there are too many. For programs on this machine, the limit of connections is enough.
   */
  takeUpgrade(source: RequestSource): boolean {
    if (isLocal(source)) return true;
    const now = this.#now();
    const counted = this.#counted(source);
    if (counted.upgrades.excess(now) > 0 || (!counted.isKnown && this.#upgrades.excess(now) > 0)) return false;
    counted.upgrades.add(now);
    this.#upgrades.add(now);
    return true;
  }

  /** When the token of a request may be checked. */
  turnOf(source: RequestSource): Turn {
    const counted = this.#addresses.get(countedNetwork(source.address));
    const now = this.#now();
    const own = counted?.failures.excess(now) ?? 0;
    const all = isLocal(source) || counted?.isKnown ? 0 : this.#failures.excess(now);
    const excess = Math.max(own, all);
    if (excess === 0) return NOW;
    const ms = Math.min(Math.ceil(excess) * ATTEMPT_DELAY_STEP_MS, ATTEMPT_DELAY_MAX_MS);
    const entry = this.#counted(source);
    if (entry.waiting >= ATTEMPTS_WAITING_MAX) return { kind: 'refused', seconds: Math.ceil(ms / 1_000) };
    entry.waiting += 1;
    let isDone = false;
    const done = () => {
      if (!isDone) entry.waiting -= 1;
      isDone = true;
    };
    return { kind: 'wait', ms, done };
  }

  /** The token was wrong or missing. */
  failed(source: RequestSource): void {
    const now = this.#now();
    this.#counted(source).failures.add(now);
    if (!isLocal(source)) this.#failures.add(now);
  }

  /** The token was right. */
  succeeded(source: RequestSource): void {
    this.#counted(source).isKnown = true;
  }

  #counted({ address }: RequestSource): Counted {
    const key = countedNetwork(address);
    const now = this.#now();
    const counted = this.#addresses.get(key) ?? {
      failures: new Level(FAILURES_PER_ADDRESS_MAX, now),
      upgrades: new Level(UPGRADES_PER_ADDRESS_MAX, now),
      waiting: 0,
      isKnown: false,
    };
    this.#addresses.delete(key);
    this.#addresses.set(key, counted);
    if (this.#addresses.size > ADDRESSES_COUNTED_MAX) this.#forgetOne();
    return counted;
  }

  /**
   * Prefers an address that never sent the right token, so that a stranger with many addresses cannot push out a known
   * one.
   */
  #forgetOne(): void {
    const [first] = this.#addresses.keys();
    for (const [key, { isKnown }] of this.#addresses) {
      if (!isKnown) return void this.#addresses.delete(key);
    }
    if (first !== undefined) this.#addresses.delete(first);
  }
}
