/** The files of the wire log: each connection gets a new one, and the oldest of those that are over go. */
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../core/util/clock.js';
import { makeFolderSync } from '../folders.js';

/** Files of connections that are over. A client that comes and goes makes one each time. */
export const WIRE_FILES_MAX = 50;

/** What else somebody has in that folder stays. Names begin with the time, so that their order is that of their age. */
const OURS = /^\d{4}-\d\d-\d\dT[\d.-]+Z-\d+-\d+\.jsonl$/;

export class WireFiles {
  /** Of connections that are over. */
  readonly #names: string[];
  #connections = 0;

  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
  ) {
    makeFolderSync(folder, { mode: 0o700 });
    this.#names = readdirSync(folder).filter((name) => OURS.test(name));
    this.#names.sort();
  }

  /** The path of a file that is not there yet. It stays as long as its connection is open. */
  next(): string {
    const time = new Date(this.clock.now()).toISOString().replaceAll(':', '-');
    return path.join(this.folder, `${time}-${process.pid}-${++this.#connections}.jsonl`);
  }

  /** Nothing more is written to it. */
  over(file: string): void {
    this.#names.push(path.basename(file));
    for (const old of this.#names.splice(0, this.#names.length - WIRE_FILES_MAX)) this.#remove(old);
  }

  /** A file that cannot be removed harms nobody; it is tried again by the next host. */
  #remove(name: string): void {
    rm(path.join(this.folder, name), { force: true }).catch(() => {});
  }
}
