/**
 * Programs that the configuration of a repository names: filters, and since Git 2.54 hooks that are in no folder. A
 * repository that was copied from somewhere may name anything, so all of them are turned off by name.
 */
import { GIT_FILTERS_MAX, withoutFilters } from '../tools/git-filters.js';
import { GitError } from './git.js';

/** Says which settings there are and where: their names alone, as their values may hold anything. */
export const PROGRAM_LIST = [
  ...['config', '--null', '--show-scope', '--name-only'],
  ...['--get-regexp', '^(filter|hook|includeif)\\.'],
] as const;

export interface Programs {
  /** The arguments that turn all of them off. */
  readonly off: readonly string[];
  readonly hasFilters: boolean;
  /** The repository itself takes in more settings on another branch, or in another folder: those are not in the list. */
  readonly hasConditions: boolean;
}

/** Where settings come from that are part of the repository. */
const OF_REPOSITORY: ReadonlySet<string> = new Set(['local', 'worktree']);

/** From a list of scopes and names. Throws when there is a program that cannot be turned off. */
export function programsIn(list: string): Programs {
  const fields = list.split('\0');
  const settings = fields.filter((_, index) => index % 2 === 1);
  const own = settings.filter((_, index) => OF_REPOSITORY.has(fields[2 * index] ?? ''));
  const filters = withoutFilters(settings.filter((setting) => setting.startsWith('filter.')).join('\0'));
  const smudges = filters.filter((setting) => setting.endsWith('.clean='));
  return {
    off: [
      ...filters,
      ...smudges.flatMap((setting) => ['-c', setting.replace(/\.clean=$/, '.smudge=')]),
      ...withoutHooks(settings.filter((setting) => setting.startsWith('hook.'))),
    ],
    hasFilters: filters.length > 0,
    hasConditions: own.some((setting) => setting.startsWith('includeif.')),
  };
}

function withoutHooks(settings: readonly string[]): string[] {
  const hooks = new Set(settings.map((setting) => setting.slice(0, setting.lastIndexOf('.'))));
  if (hooks.size > GIT_FILTERS_MAX) throw new GitError(`the repository has more than ${GIT_FILTERS_MAX} hooks`);
  return [...hooks].flatMap((hook) => {
    // The first "=" ends the name of a setting on a command line.
    if (hook.includes('=')) throw new GitError('the name of a hook contains "="');
    return ['-c', `${hook}.enabled=false`];
  });
}
