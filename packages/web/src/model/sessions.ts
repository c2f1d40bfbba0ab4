/** A session in the list: its activity, its place, and its group. */
import {
  ACTIVITY_MASK,
  type FolderProjects,
  groupedSessions,
  placeOfSession,
  projectLabel,
  type SessionGroup,
  SessionStatus,
  type SessionSummary,
} from '@atrium/protocol/ahp-1';
import { lastPart, matches, pathOf } from './format.js';
import { Store } from './store.js';

export type Activity = 'idle' | 'working' | 'needs-you' | 'error';

export function activityOf({ status }: Pick<SessionSummary, 'status'>): Activity {
  const activity = status & ACTIVITY_MASK;
  if ((activity & SessionStatus.InputNeeded) === SessionStatus.InputNeeded) return 'needs-you';
  if (activity & SessionStatus.InProgress) return 'working';
  return activity & SessionStatus.Error ? 'error' : 'idle';
}

export const ACTIVITY_WORDS: Readonly<Record<Activity, string>> = {
  idle: 'Idle',
  working: 'Working',
  'needs-you': 'Needs you',
  error: 'Failed',
};

export function isUnread({ status }: Pick<SessionSummary, 'status'>): boolean {
  return (status & SessionStatus.IsRead) === 0 && activityOf({ status }) !== 'working';
}

export function isArchived({ status }: Pick<SessionSummary, 'status'>): boolean {
  return (status & SessionStatus.IsArchived) !== 0;
}

/** The place of a session in people's words: a worktree by its project and branch, anything else by its folder. */
export function placeOf(summary: Pick<SessionSummary, 'project' | 'workingDirectories'>): string {
  const folder = folderOf(summary);
  return projectLabel(summary) ?? (folder ? lastPart(pathOf(folder)) : '');
}

/** The first folder of a session. */
export function folderOf({ workingDirectories }: Pick<SessionSummary, 'workingDirectories'>): string | undefined {
  return workingDirectories?.[0];
}

/** The folder for another session like it: for a worktree, the folder of its project. */
export function startFolder({ project, workingDirectories }: Pick<SessionSummary, 'project' | 'workingDirectories'>) {
  return project?.uri ?? workingDirectories?.[0];
}

/** The folder of the session that was open last; new sessions begin there. */
export const folderInUse = new Store<string | undefined>(undefined);

/** In milliseconds since 1970; 0 for an unreadable date. */
export function timeOf({ modifiedAt }: Pick<SessionSummary, 'modifiedAt'>): number {
  return Date.parse(modifiedAt) || 0;
}

/** The sessions that match the query, in groups. */
export function foundGroups(
  items: readonly SessionSummary[],
  projects: FolderProjects,
  query: string,
): readonly SessionGroup[] {
  const found = items.filter((item) => {
    const { name, branch } = placeOfSession(item, projects);
    return matches(query, item.title, item.provider, item.activity, name, branch, pathOf(folderOf(item) ?? ''));
  });
  return groupedSessions(found, projects);
}

/** How many folders of earlier sessions the page offers for a new one. */
const FOLDERS_MAX = 10;

/** The folders of earlier sessions, the newest first. */
export function usedFolders(items: readonly SessionSummary[]): readonly string[] {
  const newest = [...items].sort((a, b) => timeOf(b) - timeOf(a));
  const folders = newest.flatMap(({ workingDirectories = [] }) => workingDirectories.slice(0, 1).map(pathOf));
  return [...new Set(folders)].slice(0, FOLDERS_MAX);
}
