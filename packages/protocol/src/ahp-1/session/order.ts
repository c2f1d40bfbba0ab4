/**
 * The order of the list of sessions, the same in every client: pinned ones, then projects, then the archive. In each
 * group, sessions that need a person come first, then the newest, and copies follow the session that they copy.
 */
import { SessionStatus } from '../../session/status.js';
import { forkOf, isPinned } from './list-members.js';
import type { SessionSummary } from './state.js';

/** The repository of a folder, as `atrium/projects` returns it. */
export interface FolderProject {
  /** The URI of the main folder of the repository. */
  readonly root: string;
  readonly name: string;
  /** For a worktree: what is checked out there. */
  readonly branch?: string;
}

/** By the URI of the folder. */
export type FolderProjects = Readonly<Record<string, FolderProject>>;

export const PROJECTS_METHOD = 'atrium/projects';
export const PIN_METHOD = 'atrium/pinSession';
export const LAST_CHOICE_METHOD = 'atrium/lastChoice';

/** What the newest session in a folder uses: the answer to `atrium/lastChoice`, empty when there is none. */
export interface LastChoice {
  readonly provider?: string;
  readonly model?: string;
  /** Values of the configuration with which the next session begins, such as its mode. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface OrderedSession {
  readonly summary: SessionSummary;
  /** 1 for a copy that follows its source. */
  readonly depth: number;
}

export interface SessionGroup {
  readonly kind: 'pinned' | 'project' | 'archive';
  /** Identifies the group: the URI of the project, or of the folder; empty without one. */
  readonly key: string;
  readonly name: string;
  readonly items: readonly OrderedSession[];
}

export function groupedSessions(items: readonly SessionSummary[], projects: FolderProjects = {}): SessionGroup[] {
  const ordered = [...items].sort(byAttention);
  const open = ordered.filter((item) => !isListedAsArchived(item));
  const pinned = open.filter(isPinned);
  const byProject = new Map<string, { name: string; items: SessionSummary[] }>();
  for (const item of open.filter((each) => !isPinned(each))) {
    const { key, name } = placeOfSession(item, projects);
    const group = byProject.get(key) ?? { name, items: [] };
    group.items.push(item);
    byProject.set(key, group);
  }
  const archived = items.filter(isListedAsArchived).sort(byTime);
  return [
    ...(pinned.length > 0 ? [{ kind: 'pinned' as const, key: 'pinned', name: 'Pinned', items: hung(pinned) }] : []),
    ...distinctNames([...byProject]).map(([key, { name, items: own }]) => ({
      ...{ kind: 'project' as const, key, name, items: hung(own) },
    })),
    ...(archived.length > 0
      ? [{ kind: 'archive' as const, key: 'archive', name: 'Archive', items: hung(archived) }]
      : []),
  ];
}

/** True for a session in the archive. One that works or waits for a person stands among the others until it is at rest. */
export function isListedAsArchived(summary: SessionSummary): boolean {
  const isAtRest = ![ATTENTION.waits, ATTENTION.works].includes(attentionOf(summary));
  return (summary.status & SessionStatus.IsArchived) !== 0 && isAtRest;
}

/** The group of a session, and the branch of its worktree. */
export function placeOfSession(
  { project, workingDirectories = [] }: Pick<SessionSummary, 'project' | 'workingDirectories'>,
  projects: FolderProjects,
): { readonly key: string; readonly name: string; readonly branch?: string } {
  const [folder = ''] = workingDirectories;
  const known = projects[project?.uri ?? folder];
  const key = known?.root ?? project?.uri ?? folder;
  const name = known?.name ?? project?.displayName ?? lastPart(folder);
  const own = (project as { readonly branch?: unknown } | undefined)?.branch;
  // Prefer what is checked out: a person may have changed it, and older hosts stored another branch.
  const branch = projects[folder]?.branch ?? (typeof own === 'string' ? own : undefined);
  return { key, name: name || 'Without a folder', ...(branch !== undefined && { branch }) };
}

function lastPart(uri: string): string {
  const part = uri.replace(/\/+$/, '').split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Adds the folder above to two projects with the same name. */
function distinctNames<T extends { name: string }>(groups: [string, T][]): [string, T][] {
  const counts = new Map<string, number>();
  for (const [, { name }] of groups) counts.set(name, (counts.get(name) ?? 0) + 1);
  return groups.map(([key, group]) => {
    const above = lastPart(key.replace(/\/+$/, '').replace(/\/[^/]*$/, ''));
    return (counts.get(group.name) ?? 0) > 1 && above
      ? [key, { ...group, name: `${group.name} (${above})` }]
      : [key, group];
  });
}

/** Puts copies after their sources, keeping the order otherwise. */
function hung(items: readonly SessionSummary[]): OrderedSession[] {
  const here = new Set(items.map(({ resource }) => resource));
  const isBelow = (item: SessionSummary) => {
    const source = forkOf(item);
    return source !== undefined && source !== item.resource && here.has(source);
  };
  const ordered: OrderedSession[] = [];
  const added = new Set<string>();
  const add = (summary: SessionSummary, depth: number) => {
    if (added.has(summary.resource)) return;
    added.add(summary.resource);
    ordered.push({ summary, depth });
    for (const item of items) if (isBelow(item) && forkOf(item) === summary.resource) add(item, 1);
  };
  for (const item of items) if (!isBelow(item)) add(item, 0);
  // Also add sessions of a cycle: a host that mixes up sources must not lose sessions.
  for (const item of items) add(item, 0);
  return ordered;
}

/** Sessions that wait for a person come first, then those that failed or ended unseen, those that work, and the rest. */
const ATTENTION = { waits: 0, unseen: 1, works: 2, rests: 3 };

export function attentionOf({ status }: Pick<SessionSummary, 'status'>): number {
  if ((status & SessionStatus.InputNeeded) === SessionStatus.InputNeeded) return ATTENTION.waits;
  if (status & SessionStatus.InProgress) return ATTENTION.works;
  return status & SessionStatus.IsRead ? ATTENTION.rests : ATTENTION.unseen;
}

function byAttention(a: SessionSummary, b: SessionSummary): number {
  return attentionOf(a) - attentionOf(b) || byTime(a, b);
}

function byTime(a: SessionSummary, b: SessionSummary): number {
  return (Date.parse(b.modifiedAt) || 0) - (Date.parse(a.modifiedAt) || 0);
}
