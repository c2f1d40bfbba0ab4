/**
 * Codes that admit devices. They are kept in memory only, as digests. Each works once, within five minutes, and ends
 * with the host. Strangers may guess, but neither often nor for long.
 */
import { randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@atrium/core/util/clock.js';
import { digestOf, type TokenDigest } from '@atrium/core/util/secrets.js';
import { isShortCode } from '@atrium/protocol/ahp-1';
import type { Grant } from './credential-store.js';
import {
  CODE_BLOCKED_MS,
  CODE_BYTES,
  CODE_KEPT_MS,
  CODE_TRIES_MAX,
  CODE_TRIES_WINDOW_MS,
  CODES_MAX,
  SHORT_CODE_DIGITS,
  SHORT_CODE_TRIES_MAX,
} from './limits.js';

/** The access that a code gives. The device may name itself if the person who made the code did not name it. */
export interface Invited extends Omit<Grant, 'name'> {
  readonly name?: string | undefined;
  /** The credential of the person who made the code. */
  readonly by: string;
}

interface Invitation {
  readonly id: string;
  readonly invited: Invited;
  readonly code: TokenDigest;
  /** Undefined when none was offered, or after too many wrong ones. */
  shortCode: TokenDigest | undefined;
  /** Wrong short codes while this one was open. */
  wrongTries: number;
  readonly expiresAt: number;
}

export interface NewInvitation {
  readonly id: string;
  readonly code: string;
  readonly shortCode?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** `wrong`: the code does not exist or no longer works. `blocked`: no code is checked for so many seconds. */
export type Redemption =
  | { readonly kind: 'taken'; readonly invited: Invited }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'blocked'; readonly seconds: number };

/** Ten codes are open: one must be used or cancelled first. */
export class TooManyCodesError extends Error {
  override readonly name = 'TooManyCodesError';
  constructor() {
    super(`${CODES_MAX} codes wait for their devices: use one of them, take one back, or wait five minutes`);
  }
}

export class Invitations {
  readonly #clock: Clock;
  readonly #open = new Map<string, Invitation>();
  /** Times of wrong codes within the window. */
  #failures: number[] = [];
  #blockedUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    this.#dropOld();
    return this.#open.size;
  }

  /** `isPrivate`: nobody on the network can read what the device sends, so a short code may be offered. */
  make(invited: Invited, { isPrivate }: { readonly isPrivate: boolean }): NewInvitation {
    if (this.size >= CODES_MAX) throw new TooManyCodesError();
    const id = randomBytes(9).toString('base64url');
    const code = randomBytes(CODE_BYTES).toString('base64url');
    const shortCode = isPrivate ? digits() : undefined;
    const expiresAt = this.#clock.now() + CODE_KEPT_MS;
    const short = shortCode === undefined ? undefined : digestOf(shortCode);
    this.#open.set(id, { id, invited, code: digestOf(code), shortCode: short, wrongTries: 0, expiresAt });
    return { id, code, ...(shortCode !== undefined && { shortCode }), expiresAt };
  }

  /** Cancels a code; false when it was used or has expired. */
  cancel(id: string, by?: string): boolean {
    this.#dropOld();
    const found = this.#open.get(id);
    return found !== undefined && (by === undefined || found.invited.by === by) && this.#open.delete(id);
  }

  /** Cancels every code of a credential, because it is gone or may give less now. */
  cancelOf(credential: string): void {
    for (const { id, invited } of [...this.#open.values()]) if (invited.by === credential) this.#open.delete(id);
  }

  /** Uses a code up. If several devices present the same code at once, one of them gets in. */
  take(text: string, { isPrivate }: { readonly isPrivate: boolean }): Redemption {
    const now = this.#clock.now();
    if (now < this.#blockedUntil) return { kind: 'blocked', seconds: Math.ceil((this.#blockedUntil - now) / 1_000) };
    this.#dropOld();
    const isShort = isShortCode(text);
    const found = this.#match(digestOf(text), isShort);
    if (found && !(isShort && !isPrivate)) {
      this.#open.delete(found.id);
      return { kind: 'taken', invited: found.invited };
    }
    this.#failed(now, isShort);
    return { kind: 'wrong' };
  }

  /** Compares every code, each in constant time. */
  #match(offered: TokenDigest, isShort: boolean): Invitation | undefined {
    let found: Invitation | undefined;
    for (const invitation of this.#open.values()) {
      const expected = isShort ? invitation.shortCode : invitation.code;
      if (expected && timingSafeEqual(expected, offered)) found = invitation;
    }
    return found;
  }

  #failed(now: number, isShort: boolean): void {
    this.#failures = [...this.#failures.filter((at) => now - at < CODE_TRIES_WINDOW_MS), now];
    if (this.#failures.length >= CODE_TRIES_MAX) {
      this.#blockedUntil = now + CODE_BLOCKED_MS;
      this.#failures = [];
    }
    if (!isShort) return;
    // A wrong short code belongs to no invitation, so it counts against all of them. Long codes stay.
    for (const invitation of this.#open.values()) {
      invitation.wrongTries += 1;
      if (invitation.wrongTries >= SHORT_CODE_TRIES_MAX) invitation.shortCode = undefined;
    }
  }

  #dropOld(): void {
    const now = this.#clock.now();
    for (const { id, expiresAt } of [...this.#open.values()]) if (expiresAt <= now) this.#open.delete(id);
  }
}

function digits(): string {
  return String(randomInt(10 ** SHORT_CODE_DIGITS)).padStart(SHORT_CODE_DIGITS, '0');
}
