/** Which changes below a watched root are told. Pure. */
import type { WatchFilter } from '@atrium/protocol';
import { ToolFailure } from '../../../core/contracts/tool.js';
import { type Glob, glob } from '../../tools/glob.js';
import { invalid } from '../errors.js';
import { WATCH_PATTERN_MAX_CHARACTERS, WATCH_PATTERNS_MAX } from '../limits.js';

/** Without `includes`, the insides of these are left alone: programs churn in there, and nobody reads along. */
const CHURN: readonly Glob[] = ['**/.git/objects/*', '**/node_modules/*'].map(glob);

export interface ChangeFilter {
  /** Paths are relative to the root, with forward slashes. */
  isTold(relative: string): boolean;
  /** Whether anything inside of a folder could be told. */
  isEntered(relative: string): boolean;
}

export function changeFilter(excludes: WatchFilter | undefined, includes: WatchFilter | undefined): ChangeFilter {
  const out = [...globsOf(excludes, 'excludes'), ...(includes ? [] : CHURN)];
  const only = includes && globsOf(includes, 'includes');
  const isOut = (relative: string) => out.some((matches) => isIn(matches, relative));
  return {
    isTold: (relative) => !isOut(relative) && (!only || only.some((matches) => isIn(matches, relative))),
    isEntered: (relative) => !isOut(relative),
  };
}

/** A pattern that names a folder means everything in it. */
function isIn(matches: Glob, relative: string): boolean {
  for (let end = relative.length; end > 0; end = relative.lastIndexOf('/', end - 1)) {
    if (matches(relative.slice(0, end))) return true;
  }
  return false;
}

function globsOf(filter: WatchFilter | undefined, member: string): Glob[] {
  const items = filter?.items ?? [];
  if (items.length > WATCH_PATTERNS_MAX) throw invalid(`/${member} may have ${WATCH_PATTERNS_MAX} patterns`);
  return items.map((pattern) => globOf(pattern, member));
}

function globOf(pattern: string, member: string): Glob {
  if (pattern.length > WATCH_PATTERN_MAX_CHARACTERS) {
    throw invalid(`/${member}: a pattern may have ${WATCH_PATTERN_MAX_CHARACTERS} characters`);
  }
  try {
    return glob(pattern.replace(/\/+$/, ''));
  } catch (error) {
    throw error instanceof ToolFailure ? invalid(`/${member}: ${error.message}`) : error;
  }
}
