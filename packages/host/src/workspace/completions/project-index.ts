/**
 * The files of a folder and the names that are declared in them, looked up by a plain search. It is made when it is first
 * asked for, bounded in time and size, and thrown away after a few seconds, so that it never has to be kept up to date.
 * Cost grows with the number of files, once per some seconds, not per key stroke.
 */
import path from 'node:path';
import type { Clock } from '../../core/util/clock.js';
import { plainContent } from '../tools/plain-content.js';
import { filesUnder } from '../tools/walk.js';
import { type Declared, declarationsIn, isCode } from './declarations.js';

export const INDEX_FILES_MAX = 50_000;
export const INDEX_KEPT_MS = 5_000;
export const SYMBOL_FILES_MAX = 3_000;
export const SYMBOL_FILE_MAX_BYTES = 256 * 2 ** 10;
export const SYMBOLS_MAX = 50_000;
/** Somebody is typing: what was not found by then is left out. */
export const INDEX_BUDGET_MS = 1_000;

export interface FoundSymbol extends Declared {
  /** Relative to the folder, with forward slashes. */
  readonly file: string;
}

interface Kept<T> {
  readonly value: Promise<T>;
  readonly until: number;
}

export class ProjectIndex {
  readonly #files = new Map<string, Kept<readonly string[]>>();
  readonly #symbols = new Map<string, Kept<readonly FoundSymbol[]>>();

  constructor(private readonly clock: Clock) {}

  /** Paths relative to the folder, with forward slashes. */
  files(folder: string): Promise<readonly string[]> {
    return this.#kept(this.#files, folder, () => listFiles(folder));
  }

  symbols(folder: string): Promise<readonly FoundSymbol[]> {
    return this.#kept(this.#symbols, folder, async () => listSymbols(folder, await this.files(folder)));
  }

  #kept<T>(all: Map<string, Kept<T>>, folder: string, make: () => Promise<T>): Promise<T> {
    const now = this.clock.now();
    for (const [key, { until }] of all) if (until <= now) all.delete(key);
    const kept = all.get(folder) ?? { value: make(), until: now + INDEX_KEPT_MS };
    all.set(folder, kept);
    kept.value.catch(() => all.delete(folder));
    return kept.value;
  }
}

async function listFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  const isLate = budget();
  for await (const file of filesUnder(folder, new AbortController().signal)) {
    found.push(path.relative(folder, file).replaceAll(path.sep, '/'));
    if (found.length >= INDEX_FILES_MAX || isLate()) break;
  }
  return found;
}

async function listSymbols(folder: string, files: readonly string[]): Promise<FoundSymbol[]> {
  const found: FoundSymbol[] = [];
  const isLate = budget();
  for (const file of files.filter(isCode).slice(0, SYMBOL_FILES_MAX)) {
    if (found.length >= SYMBOLS_MAX || isLate()) break;
    const text = await textOf(path.join(folder, file));
    for (const declared of declarationsIn(text)) found.push({ ...declared, file });
  }
  return found;
}

async function textOf(file: string): Promise<string> {
  const bytes = await plainContent(file, SYMBOL_FILE_MAX_BYTES).catch(() => undefined);
  return bytes?.toString('utf8') ?? '';
}

/** Real time, whatever clock the host lives by: this is about how long a disk takes. */
function budget(): () => boolean {
  const end = performance.now() + INDEX_BUDGET_MS;
  return () => performance.now() > end;
}
