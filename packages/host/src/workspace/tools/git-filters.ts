/**
 * Programs that a repository names to turn files into what Git stores. Whoever only looks must not run them, for a
 * repository that was copied from somewhere may name anything.
 */
import { ToolFailure } from '../../core/contracts/tool.js';

/** A repository with more is not looked at: every filter makes the command longer. */
export const GIT_FILTERS_MAX = 100;

/** Says which settings of filters there are: their names alone, as their values may hold anything. */
export const GIT_FILTER_LIST = ['config', '--null', '--name-only', '--get-regexp', '^filter\\.'] as const;

/** The arguments that turn off every filter of that list. */
export function withoutFilters(list: string): string[] {
  const settings = list.split('\0').filter((setting) => setting !== '');
  const filters = new Set(settings.map((setting) => setting.slice(0, setting.lastIndexOf('.'))));
  if (filters.size > GIT_FILTERS_MAX) throw refusal(`it has more than ${GIT_FILTERS_MAX} filters`);
  return [...filters].flatMap((filter) => {
    // The first "=" ends the name of a setting on a command line, so this one cannot be turned off.
    if (filter.includes('=')) throw refusal('the name of one of its filters contains "="');
    return [`${filter}.clean=`, `${filter}.process=`, `${filter}.required=false`].flatMap((setting) => ['-c', setting]);
  });
}

function refusal(why: string): ToolFailure {
  return new ToolFailure('GIT_FAILED', `The repository is not looked at: ${why}. Use the shell instead.`);
}
