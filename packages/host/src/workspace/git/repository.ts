/**
 * The repository of a folder. The folder may be all of it, one of many in it, or a worktree. A repository that was
 * copied from somewhere may name any program in its configuration (filters, and since Git 2.54 hooks outside of any
 * folder), so the host turns each of them off by name.
 */
import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { type BytePath, fromText } from './byte-path.js';
import { GitError, type GitRun, git, gitList, gitText } from './git.js';
import { SharedAnswers } from './shared-answers.js';

export interface Repository {
  /** The folder in question, by its real path. Git always runs here. */
  readonly folder: string;
  /** The top folder of the repository, by its real path. */
  readonly top: string;
  /** The prefix that turns a path in the folder into a path from the top: `packages/host/`, or empty. */
  readonly prefix: BytePath;
  /** Settings that keep Git from running any program that its configuration names. */
  readonly noPrograms: readonly string[];
  readonly hasFilters: boolean;
  /** Another branch or worktree may name more programs than these. */
  readonly hasConditions: boolean;
}

/** Undefined when the folder, given by its real path, is in no usable repository, for whatever reason. */
export async function findRepository(folder: string, run: GitRun = {}): Promise<Repository | undefined> {
  try {
    if (await mayBeInRepository(folder)) return (await repositories.of(folder, run))?.repository;
  } catch {}
  run.signal?.throwIfAborted();
  return undefined;
}

/** The branch that is checked out; undefined for a detached head. */
export function branchIn(folder: string, run?: GitRun): Promise<string | undefined> {
  return branches.of(folder, run).catch(() => undefined);
}

/** The host has changed a repository, so earlier answers of Git may be wrong. */
export function forgetRepositories(): void {
  repositories.forget();
  branches.forget();
}

const repositories = new SharedAnswers({ ask: askForRepository, canCache: (found) => !found?.hasIncludes });

const branches = new SharedAnswers({
  ask: async (folder, signal) => {
    const name = await gitText(folder, ['symbolic-ref', '--quiet', '--short', 'HEAD'], { signal }).catch(() => '');
    return name === '' ? undefined : name;
  },
  canCache: () => true,
});

async function askForRepository(folder: string, signal: AbortSignal) {
  const asked = git(folder, ['rev-parse', '--show-toplevel', '--show-prefix'], { signal });
  const listed = git(folder, PROGRAM_LIST, { signal, fine: [1] });
  const [lines, settings] = await Promise.all([asked, listed]);
  const [named = '', prefix = ''] = lines.toString('utf8').split('\n');
  const top = await realpath(named);
  // A repository may claim to have its files anywhere.
  if (path.join(top, prefix.replace(/\/$/, '')) !== folder) return undefined;
  const { off: noPrograms, hasIncludes, ...has } = programsIn(settings.toString('utf8'));
  return { repository: { folder, top, prefix: fromText(prefix), noPrograms, ...has }, hasIncludes };
}

/**
 * Git finds a repository by a `.git` in the folder or above it. If there is none, the host starts no process to learn
 * that: most looks at a folder without Git happen after a turn, and a process takes far longer than checking a few
 * names.
 */
export async function mayBeInRepository(folder: string): Promise<boolean> {
  if (await couldExist(path.join(folder, '.git'))) return true;
  const above = path.dirname(folder);
  return above !== folder && mayBeInRepository(above);
}

async function couldExist(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code));
  }
}

/** The paths whose content passes through a program before Git stores it. */
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

/** Lists the names and scopes of settings, without their values, which may contain anything. */
export const PROGRAM_LIST = [
  ...['config', '--null', '--show-scope', '--name-only'],
  ...['--get-regexp', '^(filter|hook|include|includeif)\\.'],
] as const;

interface Programs {
  /** The arguments that turn all of them off. */
  readonly off: readonly string[];
  readonly hasFilters: boolean;
  /** The repository itself includes more settings on another branch or in another folder, which are not in the list. */
  readonly hasConditions: boolean;
  /** Settings come from files that the host does not know. */
  readonly hasIncludes: boolean;
}

/** The host does not use a repository with more filters or hooks, because each makes the command longer. */
export const GIT_PROGRAMS_MAX = 100;
/** The scopes of settings that are part of the repository. */
const OF_REPOSITORY: ReadonlySet<string> = new Set(['local', 'worktree']);

/** Parses a list of scopes and names. Throws when a program cannot be turned off. */
export function programsIn(list: string): Programs {
  const fields = list.split('\0');
  const settings = fields.filter((_, index) => index % 2 === 1);
  const own = settings.filter((_, index) => OF_REPOSITORY.has(fields[2 * index] ?? ''));
  const filters = withoutFilters(settings.filter((setting) => setting.startsWith('filter.')));
  const smudges = filters.filter((setting) => setting.endsWith('.clean='));
  return {
    off: [
      ...filters,
      ...smudges.flatMap((setting) => ['-c', setting.replace(/\.clean=$/, '.smudge=')]),
      ...withoutHooks(settings.filter((setting) => setting.startsWith('hook.'))),
    ],
    hasFilters: filters.length > 0,
    hasConditions: own.some((setting) => setting.startsWith('includeif.')),
    hasIncludes: settings.some((setting) => /^include(if)?\./.test(setting)),
  };
}

function withoutFilters(settings: readonly string[]): string[] {
  const filters = namesIn(settings);
  if (filters.length > GIT_PROGRAMS_MAX) throw new GitError(`it has more than ${GIT_PROGRAMS_MAX} filters`);
  return filters.flatMap((filter) => {
    if (filter.includes('=')) throw new GitError('the name of one of its filters contains "="');
    return [`${filter}.clean=`, `${filter}.process=`, `${filter}.required=false`].flatMap((setting) => ['-c', setting]);
  });
}

function withoutHooks(settings: readonly string[]): string[] {
  const hooks = namesIn(settings);
  if (hooks.length > GIT_PROGRAMS_MAX) throw new GitError(`it has more than ${GIT_PROGRAMS_MAX} hooks`);
  return hooks.flatMap((hook) => {
    if (hook.includes('=')) throw new GitError('the name of one of its hooks contains "="');
    return ['-c', `${hook}.enabled=false`];
  });
}

/** A name with "=" cannot be turned off, because on a command line the first "=" ends the name of a setting. */
function namesIn(settings: readonly string[]): string[] {
  return [...new Set(settings.map((setting) => setting.slice(0, setting.lastIndexOf('.'))))];
}
