/** The repository that a folder is in. The folder may be all of it, one of many in it, or a worktree. */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { GIT_FILTER_LIST, withoutFilters } from '../../tools/git-filters.js';
import { type BytePath, fromText } from '../byte-path.js';
import { type GitRun, git, gitList } from './git.js';

export interface Repository {
  /** The session's folder, by its real path. Git is always run here. */
  readonly folder: string;
  /** What comes before a path in that folder to name it from the top: `packages/host/`, or nothing. */
  readonly prefix: BytePath;
  /** Settings that keep every filter of the repository from being run. */
  readonly noFilters: readonly string[];
}

/** Undefined when the folder is in none that can be used, for whatever reason. */
export async function findRepository(folder: string, signal?: AbortSignal): Promise<Repository | undefined> {
  const run: GitRun = signal ? { signal } : {};
  try {
    const [top = '', prefix = ''] = lines(await git(folder, ['rev-parse', '--show-toplevel', '--show-prefix'], run));
    // A repository may claim to have its files anywhere.
    if (path.join(await realpath(top), prefix.replace(/\/$/, '')) !== folder) return undefined;
    const filters = await git(folder, [...GIT_FILTER_LIST], { ...run, fine: [1] });
    return { folder, prefix: fromText(prefix), noFilters: withoutFilters(filters.toString('utf8')) };
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}

/** The tracked content of a file, with the line endings that it has on disk. Filters that are programs are not run. */
export function trackedContent(
  { folder, prefix, noFilters }: Repository,
  path: BytePath,
  oid: string,
): Promise<Buffer> {
  const argument = Buffer.from(`--path=${prefix}${path}`, 'latin1').toString('utf8');
  // A name that is no text cannot be an argument; then no rule of the repository is about it either, most likely.
  const isText = fromText(argument) === `--path=${prefix}${path}`;
  const how = isText ? ['--filters', argument] : ['blob'];
  return git(folder, [...noFilters, ...smudgeOff(noFilters), 'cat-file', ...how, oid]);
}

/** Those of the paths whose content goes through a program before Git stores it. */
export async function filteredPaths(
  repository: Repository,
  paths: readonly BytePath[],
): Promise<ReadonlySet<BytePath>> {
  if (repository.noFilters.length === 0 || paths.length === 0) return new Set();
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
  const fields = await gitList(repository.folder, ['check-attr', '-z', '--stdin', 'filter'], { input });
  const filtered = new Set<BytePath>();
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', , value = ''] = fields.slice(at, at + 3);
    if (!['unspecified', 'unset', 'set', ''].includes(value)) filtered.add(path);
  }
  return filtered;
}

function smudgeOff(noFilters: readonly string[]): string[] {
  return noFilters
    .filter((setting) => setting.endsWith('.clean='))
    .flatMap((setting) => ['-c', setting.replace(/\.clean=$/, '.smudge=')]);
}

function lines(output: Buffer): string[] {
  return output.toString('utf8').split('\n');
}
