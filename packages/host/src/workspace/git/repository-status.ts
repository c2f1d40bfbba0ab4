/** The differences from the last commit, as `git status --porcelain=v2` reports them. */

import type { FileEditDiff } from '@atrium/protocol/ahp-1';
import type { BytePath } from './byte-path.js';
import { gitList } from './git.js';
import type { Repository } from './repository.js';

/** A file as the last commit has it. */
export interface Tracked {
  readonly mode: string;
  readonly oid: string;
}

export interface StatusEntry {
  readonly path: BytePath;
  /** The two letters of `git status --short`: the index, then the folder. */
  readonly letters: string;
  /** Absent when the last commit lacks the file. */
  readonly head?: Tracked;
  /** The staged version, if any. */
  readonly staged?: Tracked;
  /** Its name in the last commit, if it was renamed. */
  readonly from?: BytePath;
}

export interface Status {
  /** Absent in a repository without commits. */
  readonly head?: string;
  readonly branch?: string;
  readonly entries: readonly StatusEntry[];
}

export interface StatusOptions {
  readonly renames: boolean;
  readonly signal?: AbortSignal;
}

const NOTHING = '000000';
const SUBMODULE = '160000';

export async function statusOf(repository: Repository, { renames, signal }: StatusOptions): Promise<Status> {
  const args = ['status', '--porcelain=v2', '-z', '--branch', '--untracked-files=all', '--ignore-submodules=dirty'];
  const how = [renames ? '--find-renames' : '--no-renames', '--', '.'];
  const { folder, noPrograms } = repository;
  const fields = await gitList(folder, [...noPrograms, ...args, ...how], signal ? { signal } : {});
  return parseStatus(fields, repository.prefix);
}

/** A nested repository is one entry; an untracked one ends with a slash and is left out. */
export function parseStatus(fields: readonly string[], prefix: BytePath): Status {
  const entries: StatusEntry[] = [];
  const branch = new Map<string, string>();
  const rest = fields[Symbol.iterator]();
  for (const field of rest) {
    const [kind] = field;
    if (kind === '#') branch.set(...headerOf(field));
    else if (kind === '?') entries.push({ path: field.slice(2), letters: '??' });
    else if (kind === '1') entries.push(ordinary(field));
    else if (kind === '2') entries.push(renamed(field, rest.next().value ?? ''));
    else if (kind === 'u') entries.push(unmerged(field));
  }
  const head = branch.get('branch.oid');
  const name = branch.get('branch.head');
  return {
    ...(head !== undefined && head !== '(initial)' && { head }),
    ...(name !== undefined && { branch: name }),
    entries: entries.filter(({ path }) => !path.endsWith('/')).flatMap((entry) => inside(entry, prefix)),
  };
}

export function isSubmodule({ head, staged }: StatusEntry): boolean {
  return head?.mode === SUBMODULE || staged?.mode === SUBMODULE;
}

/** Whether the index has anything of it that the last commit lacks. A conflict does not count. */
export function isStaged({ letters }: Pick<StatusEntry, 'letters'>): boolean {
  return !isConflict({ letters }) && !['?', '.'].includes(letters[0] ?? '');
}

/** Two branches changed it, and no person has decided yet. */
export function isConflict({ letters }: Pick<StatusEntry, 'letters'>): boolean {
  return letters.includes('U') || letters === 'AA' || letters === 'DD';
}

function headerOf(field: string): [string, string] {
  const [, name = '', value = ''] = field.split(' ');
  return [name, value];
}

/** `1 XY sub mH mI mW hH hI path`. */
function ordinary(field: string): StatusEntry {
  const [, letters = '', , mH = '', mI = '', , hH = '', hI = ''] = field.split(' ');
  return { path: afterSpaces(field, 8), letters, ...tracked('head', mH, hH), ...tracked('staged', mI, hI) };
}

/** `2 XY sub mH mI mW hH hI score path`, and the previous name. */
function renamed(field: string, from: string): StatusEntry {
  const isCopy = field.split(' ')[8]?.startsWith('C');
  const { head, ...entry } = ordinary(field);
  const path = afterSpaces(field, 9);
  return isCopy ? { ...entry, path } : { ...entry, ...(head && { head }), path, from };
}

/** `u XY sub m1 m2 m3 mW h1 h2 h3 path`; of the three, the second is ours. */
function unmerged(field: string): StatusEntry {
  const [, letters = '', , , m2 = '', , , , h2 = ''] = field.split(' ');
  return { path: afterSpaces(field, 10), letters, ...tracked('head', m2, h2) };
}

function tracked<Side extends 'head' | 'staged'>(side: Side, mode: string, oid: string): { [S in Side]?: Tracked } {
  return (mode === NOTHING ? {} : { [side]: { mode, oid } }) as { [S in Side]?: Tracked };
}

/** The path itself may contain spaces. */
function afterSpaces(field: string, spaces: number): string {
  let at = -1;
  for (let seen = 0; seen < spaces; seen += 1) at = field.indexOf(' ', at + 1);
  return field.slice(at + 1);
}

/** Git gives paths from the top folder. A file that was renamed from outside of the folder is new in it. */
function inside(entry: StatusEntry, prefix: BytePath): StatusEntry[] {
  if (!entry.path.startsWith(prefix)) return [];
  const path = entry.path.slice(prefix.length);
  const { from, ...rest } = entry;
  if (from === undefined) return [{ ...rest, path }];
  if (from.startsWith(prefix)) return [{ ...rest, path, from: from.slice(prefix.length) }];
  const { head: _elsewhere, ...fresh } = rest;
  return [{ ...fresh, path }];
}

/** How many lines differ from the last commit, file by file, as `git diff --numstat` counts them. */

export async function lineCounts(
  { folder, prefix, noPrograms }: Repository,
  head: string | undefined,
): Promise<ReadonlyMap<BytePath, FileEditDiff>> {
  const base = head ?? (await emptyTree(folder));
  const how = ['--numstat', '-z', '--find-renames', '--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty'];
  // Git must not store what it learns about files in the index, because reading must change nothing.
  const args = [...noPrograms, ...['diff.relative', 'diff.autoRefreshIndex'].flatMap((key) => ['-c', `${key}=false`])];
  return parseCounts(await gitList(folder, [...args, 'diff', ...how, base, '--', '.']), prefix);
}

/** Git knows the empty tree without storing it. Its id depends on the hash of the repository. */
export async function emptyTree(folder: string): Promise<string> {
  return (await gitList(folder, ['hash-object', '-t', 'tree', '--stdin'])).join('').trim();
}

/**
 * `added TAB removed TAB path`; for a renamed file, the two paths follow as separate fields. A file that is not text
 * has dashes.
 */
function parseCounts(fields: readonly string[], prefix: BytePath): ReadonlyMap<BytePath, FileEditDiff> {
  const counts = new Map<BytePath, FileEditDiff>();
  const rest = fields[Symbol.iterator]();
  for (const field of rest) {
    const [added = '-', removed = '-', ...name] = field.split('\t');
    const path = name.join('\t') || secondOf(rest);
    if (added === '-' || !path.startsWith(prefix)) continue;
    counts.set(path.slice(prefix.length), { added: Number(added), removed: Number(removed) });
  }
  return counts;
}

/** A renamed file: skips its old name and returns the new one. */
function secondOf(rest: Iterator<string>): string {
  rest.next();
  return rest.next().value ?? '';
}
