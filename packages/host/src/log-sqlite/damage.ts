/** Damage that is found while reading: the bytes are kept aside, and whoever listens hears of it. */
import { writeFileSync } from 'node:fs';
import type { LogRepair } from '../core/log/log.js';
import type { Clock } from '../core/util/clock.js';
import { nameAside } from './repair.js';

/** Damaged texts that one run keeps in files of their own. A file that is rotten throughout must not fill the folder. */
export const DAMAGED_FILES_MAX = 1_000;

export interface DamagedText {
  /** What it was: `turn t1 of ahp-session:/s`. */
  readonly what: string;
  /** What stands in its place now. */
  readonly instead: string;
  /** The bytes that were found, in hexadecimal digits. */
  readonly hex: string;
}

export interface DamageOptions {
  /** The database. */
  readonly path: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly repairs: readonly LogRepair[];
  /** Does work on the database as one transaction. */
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

  /** Puts something else in the place of what was damaged, so that it is found only once. A full disk may prevent that. */
  mend(work: () => void): void {
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
