/**
 * The files of a folder and the names that are declared in them, found by a plain text search. The index is made when
 * it is first asked for, bounded in time and size, and dropped after a few seconds, so that it never has to be kept up
 * to date. Its cost grows with the number of files, once in some seconds, not with every key stroke.
 */
import path from 'node:path';
import type { Clock } from '@atrium/core/util/clock.js';
import { plainContent } from '../tools/plain-content.js';
import { filesUnder } from '../tools/walk.js';

const CODE = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|swift|cs|cpp|cc|c|h|hpp|rb|php|scala|sh|lua|ex|exs|dart|vue|svelte)$/;
const DECLARATION =
  /\b(class|interface|type|enum|struct|trait|module|namespace|function|func|fn|def|const|let|var|val)\s+\*?([A-Za-z_$][\w$]{1,99})/g;
/** Lines beyond this are made by machines. */
const LINE_MAX_CHARACTERS = 500;
/** Names declared deeper inside are not offered. */
const INDENT_MAX_CHARACTERS = 8;
const LOCAL: ReadonlySet<string> = new Set(['const', 'let', 'var', 'val']);
const INDEX_FILES_MAX = 50_000;
const INDEX_KEPT_MS = 5_000;
const SYMBOL_FILES_MAX = 3_000;
const SYMBOL_FILE_MAX_BYTES = 256 * 2 ** 10;
const SYMBOLS_MAX = 50_000;
/** A person is typing: names not found by then are left out. */
const INDEX_BUDGET_MS = 1_000;

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

/** Names that a source file declares, found by looking for the usual words in front of them. No parser is asked. */
interface Declared {
  readonly name: string;
  /** `class`, `function` …: the word that stands in front. */
  readonly kind: string;
  /** From 0. */
  readonly line: number;
}

export function isCode(file: string): boolean {
  return CODE.test(file);
}

export function* declarationsIn(text: string): Generator<Declared> {
  let line = 0;
  for (const content of text.split('\n')) {
    if (content.length <= LINE_MAX_CHARACTERS) yield* declarationsOf(content, line);
    line++;
  }
}

function* declarationsOf(content: string, line: number): Generator<Declared> {
  const indent = content.length - content.trimStart().length;
  if (indent > INDENT_MAX_CHARACTERS || /^\s*(?:\/\/|#|\*|\/\*)/.test(content)) return;
  for (const [, kind = '', name = ''] of content.matchAll(DECLARATION)) {
    if (indent === 0 || !LOCAL.has(kind)) yield { name, kind, line };
  }
}
