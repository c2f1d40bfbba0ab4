/**
 * Handles damage that a read finds: detects it by checksums, moves the bytes to a file of their own, and tells
 * listeners.
 */
import { writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { LogRepair } from '@atrium/core/log/log.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { ErrorInfo, Turn } from '@atrium/protocol/ahp-1';
import { nameAside } from './repair.js';

/**
 * How many damaged texts one run keeps in files of their own, so that a badly damaged database does not fill the
 * folder.
 */
const DAMAGED_FILES_MAX = 1_000;
const DAMAGED_ERROR: ErrorInfo = {
  errorType: 'damaged',
  message:
    'What was said in this turn was damaged on disk and cannot be shown. The damaged bytes are kept in the data folder; the log of the host names the file.',
};

interface DamagedText {
  /** What was damaged: `turn t1 of ahp-session:/s`. */
  readonly what: string;
  /** Its replacement. */
  readonly instead: string;
  /** The damaged bytes, in hexadecimal digits. */
  readonly hex: string;
}

interface DamageOptions {
  /** The path of the database. */
  readonly path: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly repairs: readonly LogRepair[];
  /** Runs work on the database in one transaction. */
  write(work: () => void): void;
}

export class Damage {
  readonly repairs: LogRepair[];
  readonly #path: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #write: (work: () => void) => void;
  #listeners: ((repair: LogRepair) => void)[] = [];
  #files = 0;

  constructor({ path, clock, repairs, write }: DamageOptions) {
    this.#path = path;
    this.#clock = clock;
    this.#write = write;
    this.repairs = [...repairs];
  }

  onRepair(listener: (repair: LogRepair) => void): void {
    this.#listeners.push(listener);
  }

  found({ what, instead, hex }: DamagedText): void {
    const keptAt = this.#keep(hex);
    const message = `${this.#path}: ${what} was damaged (its checksum does not fit): ${instead}`;
    const repair = { message, ...(keptAt !== undefined && { keptAt }) };
    this.repairs.push(repair);
    for (const listener of this.#listeners) listener(repair);
  }

  /** Replaces the damaged text, so that it is reported only once. On a full disk that may fail. */
  repair(work: () => void): void {
    try {
      this.#write(work);
    } catch {}
  }

  #keep(hex: string): string | undefined {
    if (this.#files >= DAMAGED_FILES_MAX) return undefined;
    this.#files += 1;
    const file = nameAside(this.#path, this.#clock.now());
    try {
      writeFileSync(file, Buffer.from(hex, 'hex'), { mode: 0o600, flag: 'wx' });
      return file;
    } catch {
      return undefined;
    }
  }
}

/**
 * The checksum of a text that is stored under a key. SQLite detects a damaged structure, but not a flipped bit inside a
 * text, which clients would then see. CRC-32 detects every short damage, and misses one in four billion otherwise. It
 * does not protect against people, who could change it with the text; neither would a cryptographic hash, which costs
 * five times as much for a short text. The sum covers the key, so a text that turns up under another key does not
 * match. The key counts up to its first NUL, because `node:sqlite` reads an id no further. All texts are JSON, which
 * has no NUL.
 */
export function sumOf(place: string, text: string): number {
  const end = place.indexOf('\0');
  return crc32(text, crc32(end < 0 ? place : place.slice(0, end)));
}

/** Whether the sum matches. Texts of earlier versions have no sum, and always match. */
export function fits(sum: number | null, place: string, text: string): boolean {
  return sum === null || sum === sumOf(place, text);
}

/**
 * Replaces a finished turn that was damaged on disk. This is the only place where the log knows the shape of a turn.
 * The `id` stays the same, so that references to the damaged turn lead here.
 */
export function damagedTurn(id: string): string {
  const turn: Turn = {
    id,
    message: { text: '[This turn was damaged on disk.]', origin: { kind: 'user' } },
    responseParts: [{ kind: 'error', error: DAMAGED_ERROR }],
    state: 'error',
  };
  return JSON.stringify(turn);
}
