/** The repository that a folder is in. The folder may be all of it, one of many in it, or a worktree. */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { type BytePath, fromText } from './byte-path.js';
import { type GitRun, git, gitList } from './git.js';
import { PROGRAM_LIST, programsIn } from './programs.js';

export interface Repository {
  /** The folder that was asked about, by its real path. Git is always run here. */
  readonly folder: string;
  /** The top folder, by its real path. */
  readonly top: string;
  /** What comes before a path in that folder to name it from the top: `packages/host/`, or nothing. */
  readonly prefix: BytePath;
  /** Settings that keep every program that its configuration names from being run. */
  readonly noPrograms: readonly string[];
  readonly hasFilters: boolean;
  /** More programs than those may be named on another branch, or in another worktree. */
  readonly hasConditions: boolean;
}

/** Undefined when the folder, named by its real path, is in none that can be used, for whatever reason. */
export async function findRepository(folder: string, run: GitRun = {}): Promise<Repository | undefined> {
  try {
    const asked = git(folder, ['rev-parse', '--show-toplevel', '--show-prefix'], run);
    const listed = git(folder, PROGRAM_LIST, { ...run, fine: [1] });
    const [lines, settings] = await Promise.all([asked, listed]);
    const [named = '', prefix = ''] = lines.toString('utf8').split('\n');
    const top = await realpath(named);
    // A repository may claim to have its files anywhere.
    if (path.join(top, prefix.replace(/\/$/, '')) !== folder) return undefined;
    const { off: noPrograms, ...has } = programsIn(settings.toString('utf8'));
    return { folder, top, prefix: fromText(prefix), noPrograms, ...has };
  } catch {
    run.signal?.throwIfAborted();
    return undefined;
  }
}

/** Those of the paths whose content goes through a program before Git stores it. */
export async function filteredPaths(
  repository: Repository,
  paths: readonly BytePath[],
): Promise<ReadonlySet<BytePath>> {
  if (!repository.hasFilters || paths.length === 0) return new Set();
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
  const fields = await gitList(repository.folder, ['check-attr', '-z', '--stdin', 'filter'], { input });
  const filtered = new Set<BytePath>();
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', , value = ''] = fields.slice(at, at + 3);
    if (!['unspecified', 'unset', 'set', ''].includes(value)) filtered.add(path);
  }
  return filtered;
}
