/** The order of the session list: what waits for a person first, then the newest, and the archive by itself. */
import type { SessionSummary } from '@atrium/protocol';
import { pathOf } from './format.js';
import { placeOf } from './place.js';
import { matches } from './search.js';
import { activityOf, isArchived } from './status.js';

export interface SessionGroups {
  readonly waiting: readonly SessionSummary[];
  readonly others: readonly SessionSummary[];
  readonly archived: readonly SessionSummary[];
}

export function groupSessions(items: readonly SessionSummary[], query: string): SessionGroups {
  const found = items
    .filter((item) =>
      matches(query, item.title, item.provider, item.activity, placeOf(item), pathOf(item.workingDirectory ?? '')),
    )
    .sort((a, b) => b.modifiedAt - a.modifiedAt);
  const open = found.filter((item) => !isArchived(item));
  return {
    waiting: open.filter((item) => activityOf(item) === 'needs-you'),
    others: open.filter((item) => activityOf(item) !== 'needs-you'),
    archived: found.filter(isArchived),
  };
}

/** As many folders of earlier sessions are offered for the next one. */
const FOLDERS_MAX = 10;

/** The folders of earlier sessions, the newest first. */
export function usedFolders(items: readonly SessionSummary[]): readonly string[] {
  const newest = [...items].sort((a, b) => b.modifiedAt - a.modifiedAt);
  const folders = newest.flatMap(({ workingDirectory }) => (workingDirectory ? [pathOf(workingDirectory)] : []));
  return [...new Set(folders)].slice(0, FOLDERS_MAX);
}
