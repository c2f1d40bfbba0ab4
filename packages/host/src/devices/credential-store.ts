/**
 * The tokens of devices and shares, as digests, with the access that each gives. They are records of the log, and all
 * of them are in memory. Whatever happens to the host, a token that was handed out is stored, and a removed one stays
 * removed.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Writer } from '@atrium/core/channels/writer.js';
import type { Access, Bounds, LeftOut, Role } from '@atrium/core/contracts/access.js';
import { jsonText, type Log } from '@atrium/core/log/log.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { digestOf, newToken, type TokenDigest } from '@atrium/core/util/secrets.js';
import { DEVICES_MAX, FIRST_USE_MS, NAME_MAX_CHARACTERS, SHARES_MAX, USE_NOTED_EVERY_MS } from './limits.js';

const RECORDS = 'credential:';
const ID_BYTES = 9;

export type CredentialKind = 'device' | 'share';

/** Where a credential was used. */
export interface Place {
  readonly address: string;
  readonly userAgent?: string | undefined;
}

export interface CredentialUse extends Place {
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The access that a credential is to give. */
export interface Grant {
  readonly name: string;
  readonly role: Role;
  readonly bounds?: Bounds | undefined;
  readonly leftOut?: readonly LeftOut[] | undefined;
  /** Milliseconds since the epoch; absent: never. */
  readonly expiresAt?: number | undefined;
  /** For a share: the device that made it. */
  readonly by?: string | undefined;
}

export interface StoredCredential extends Grant {
  readonly kind: CredentialKind;
  readonly id: string;
  readonly createdAt: number;
  /** Absent until it was used. */
  readonly lastUsed?: CredentialUse | undefined;
}

interface Entry {
  readonly credential: StoredCredential;
  readonly digest: TokenDigest;
  /** When its use was last stored. */
  notedAt: number;
}

export interface CredentialEvents {
  /** The list has changed: a credential was added, changed, removed, or used for the first time in a while. */
  changed(kind: CredentialKind): void;
  /** The access of a credential has changed; undefined: it was removed or has expired. */
  access(id: string, access: Access | undefined): void;
}

interface StoreParts {
  readonly log: Log;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly events: CredentialEvents;
}

/** The store is full. */
export class TooManyCredentialsError extends Error {
  override readonly name = 'TooManyCredentialsError';
}

export class CredentialStore {
  readonly #parts: StoreParts;
  readonly #entries = new Map<string, Entry>();
  /** When recently removed credentials were removed; their client ids become free some time later. */
  readonly #removed = new Map<string, number>();
  #cancelExpiry: () => void = () => {};

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async load(): Promise<void> {
    for (const { key, value } of await this.#parts.log.records(RECORDS)) {
      const entry = readEntry(key.slice(RECORDS.length), value);
      if (entry) this.#entries.set(entry.credential.id, entry);
    }
    await this.#expire();
  }

  get(id: string): StoredCredential | undefined {
    return this.#entries.get(id)?.credential;
  }

  /** Oldest first. */
  list(kind: CredentialKind): StoredCredential[] {
    const all = [...this.#entries.values()].map(({ credential }) => credential);
    return all.filter((credential) => credential.kind === kind).sort((a, b) => a.createdAt - b.createdAt);
  }

  /**
   * The credential of a token. Unknown, expired, removed and malformed tokens take the same path: every digest is
   * compared, each in constant time.
   */
  find(token: string): StoredCredential | undefined {
    const offered = digestOf(token);
    let found: StoredCredential | undefined;
    for (const { credential, digest } of this.#entries.values()) {
      if (timingSafeEqual(digest, offered)) found = credential;
    }
    return found && !this.#isOver(found) ? found : undefined;
  }

  /** Stores only a digest of the token, before this resolves; the token itself exists nowhere else. */
  async add(kind: CredentialKind, grant: Grant): Promise<{ credential: StoredCredential; token: string }> {
    const max = kind === 'device' ? DEVICES_MAX : SHARES_MAX;
    const token = newToken();
    const { name, ...rest } = grant;
    const id = `${kind}-${randomBytes(ID_BYTES).toString('base64url')}`;
    const createdAt = this.#parts.clock.now();
    const credential: StoredCredential = { kind, id, name: nameOf(name), ...rest, createdAt };
    const entry = { credential, digest: digestOf(token), notedAt: 0 };
    if (this.list(kind).length >= max)
      throw new TooManyCredentialsError(`there are ${max} ${kind}s already: remove one first`);
    // Counted from here on, so that two simultaneous calls do not exceed the limit. The token has not been handed out
    // yet.
    this.#entries.set(id, entry);
    await this.#stored(entry, () => this.#entries.delete(id));
    this.#armExpiry();
    this.#parts.events.changed(kind);
    return { credential, token };
  }

  /**
   * False when the id is unknown. Takes effect at once, before the log has it, and is undone only if the log cannot
   * store it: reduced access must not last until a slow disk has answered.
   */
  async change(id: string, change: Partial<Grant>): Promise<boolean> {
    const before = this.#entries.get(id);
    if (!before) return false;
    const named = change.name === undefined ? {} : { name: nameOf(change.name) };
    const entry = { ...before, credential: { ...before.credential, ...change, ...named } };
    this.#replace(entry);
    await this.#stored(entry, () => this.#isNow(entry) && this.#replace(before));
    this.#parts.events.changed(entry.credential.kind);
    return true;
  }

  #replace(entry: Entry): void {
    const { credential } = entry;
    this.#entries.set(credential.id, entry);
    this.#armExpiry();
    this.#parts.events.access(credential.id, accessOf(credential));
  }

  /** Whether it has stayed the same since, except for its last use. */
  #isNow({ credential: { lastUsed: _earlier, ...grant } }: Entry): boolean {
    const { lastUsed: _later, ...now } = this.get(grant.id) ?? {};
    return JSON.stringify(now) === JSON.stringify(grant);
  }

  /**
   * Takes effect at once: closes the connections before the log has it, and restores the credential only if the log
   * cannot store the removal.
   */
  async remove(id: string): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (!entry) return false;
    const { clock, writer, events } = this.#parts;
    this.#entries.delete(id);
    this.#removed.set(id, clock.now());
    events.access(id, undefined);
    writer.record({ key: RECORDS + id, value: null }, 'full');
    try {
      await writer.settled();
    } catch (error) {
      this.#entries.set(id, entry);
      this.#removed.delete(id);
      throw error;
    }
    events.changed(entry.credential.kind);
    return true;
  }

  /** Records a use: in memory at once, in the log the first time and then from time to time. */
  used(id: string, { address, userAgent }: Place): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    const now = this.#parts.clock.now();
    const next = { ...entry, credential: { ...entry.credential, lastUsed: { at: now, address, userAgent } } };
    this.#entries.set(id, next);
    if (entry.credential.lastUsed !== undefined && now - entry.notedAt < USE_NOTED_EVERY_MS) return;
    next.notedAt = now;
    this.#record(next);
    this.#parts.events.changed(entry.credential.kind);
  }

  /** Whether others may use the client ids of this credential, because it was removed some time ago. */
  isGone(id: string, graceMs: number): boolean {
    if (this.#entries.has(id)) return false;
    const since = this.#removed.get(id);
    if (since !== undefined && this.#parts.clock.now() - since < graceMs) return false;
    this.#removed.delete(id);
    return true;
  }

  /** Stores the last use of each credential. */
  async close(): Promise<void> {
    this.#cancelExpiry();
    for (const entry of this.#entries.values()) {
      if ((entry.credential.lastUsed?.at ?? 0) > entry.notedAt) this.#record(entry);
    }
    await this.#parts.writer.settled().catch(() => {});
  }

  #record({ credential, digest }: Entry, durability: 'normal' | 'full' = 'normal'): void {
    const value = jsonText({ ...credential, digest: digest.toString('base64url') });
    this.#parts.writer.record({ key: RECORDS + credential.id, value }, durability);
  }

  async #stored(entry: Entry, undo: () => void): Promise<void> {
    this.#record(entry, 'full');
    try {
      await this.#parts.writer.settled();
    } catch (error) {
      undo();
      throw error;
    }
  }

  #isOver(credential: StoredCredential): boolean {
    return endOf(credential) <= this.#parts.clock.now();
  }

  /** Removes expired credentials. */
  async #expire(): Promise<void> {
    const over = [...this.#entries.values()].filter(({ credential }) => this.#isOver(credential));
    await Promise.all(over.map(({ credential: { id } }) => this.remove(id).catch(() => {})));
    this.#armExpiry();
  }

  #armExpiry(): void {
    this.#cancelExpiry();
    const { clock } = this.#parts;
    const next = Math.min(...[...this.#entries.values()].map(({ credential }) => endOf(credential)));
    if (Number.isFinite(next))
      this.#cancelExpiry = clock.after(Math.max(next - clock.now(), 0), () => void this.#expire());
  }
}

/** A device that never connected did not get its token; perhaps the host died before it could answer. */
function endOf({ kind, createdAt, lastUsed, expiresAt = Number.POSITIVE_INFINITY }: StoredCredential): number {
  const isAwaited = kind === 'device' && lastUsed === undefined;
  return Math.min(expiresAt, isAwaited ? createdAt + FIRST_USE_MS : Number.POSITIVE_INFINITY);
}

export function accessOf({ kind, id, name, role, bounds, leftOut, expiresAt }: StoredCredential): Access {
  return {
    role,
    ...(bounds && { bounds }),
    ...(expiresAt !== undefined && { until: expiresAt }),
    ...(leftOut && { leftOut }),
    credential: { kind, id, name },
  };
}

/** Reduces a name to one line that fits on a screen. */
export function nameOf(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return [...line].slice(0, NAME_MAX_CHARACTERS).join('').trim() || 'Unnamed';
}

/** A record that cannot be read gives no access. */
function readEntry(id: string, value: string): Entry | undefined {
  try {
    const { digest, ...credential } = JSON.parse(value) as StoredCredential & { readonly digest: string };
    const bytes = Buffer.from(digest, 'base64url');
    if (credential.id !== id || bytes.length !== digestOf('').length) return undefined;
    return { credential, digest: bytes, notedAt: credential.lastUsed?.at ?? 0 };
  } catch {
    return undefined;
  }
}
