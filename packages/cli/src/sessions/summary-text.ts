/** Sessions in words: their state, how long ago they changed, and where they work. */

import { fileURLToPath } from 'node:url';
import { ACTIVITY_MASK, openProgress, projectLabel, SessionStatus, type SessionSummary } from '@atrium/protocol/ahp-1';
import { io } from '../io.js';
import { printable } from '../text/printable.js';
import { shortId } from './find-session.js';

/** A session or a chat. */
type WithStatus = Pick<SessionSummary, 'status'>;

export function activityOf({ status }: WithStatus): string {
  const activity = status & ACTIVITY_MASK;
  if (activity === SessionStatus.InputNeeded) return 'asks you';
  if (activity & SessionStatus.InProgress) return 'works';
  if (activity & SessionStatus.Error) return 'failed';
  return 'idle';
}

export function isArchived({ status }: WithStatus): boolean {
  return (status & SessionStatus.IsArchived) !== 0;
}

/** The state of a session. An archived one says so, and adds its state if it is not idle. */
export function stateOf(summary: WithStatus): string {
  const activity = activityOf(summary);
  if (!isArchived(summary)) return activity;
  return activity === 'idle' ? 'archived' : `${activity}, archived`;
}

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
];

/** `at` is a date as text; an unreadable one gives an empty text. */
export function ago(at: string, now: number): string {
  const passed = now - Date.parse(at);
  if (!Number.isFinite(passed)) return '';
  const [unit, size] = UNITS.find(([, each]) => passed >= each) ?? ['s', 1_000];
  return `${Math.max(0, Math.floor(passed / size))}${unit} ago`;
}

export function folderText(uri: string | undefined): string {
  if (uri === undefined) return '';
  const folder = printable(localPath(uri) ?? uri);
  const home = io().home;
  return folder === home || folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder;
}

type Place = Pick<SessionSummary, 'project' | 'workingDirectories'>;

/** The first folder of a session. */
export function folderOf({ workingDirectories }: Pick<Place, 'workingDirectories'>): string | undefined {
  return workingDirectories?.[0];
}

/** The place in people's words: a worktree by its project and branch, anything else by its folder. */
export function placeText(place: Place): string {
  const label = projectLabel(place);
  return label === undefined ? folderText(folderOf(place)) : printable(label);
}

/** How many parts of a path a narrow place shows: the folder and the one that it is in. */
const SHORT_PARTS = 2;

/** For a line of a screen, where the end of a path tells more than its beginning: `…/shop/web`. */
export function shortPlaceText(place: Place): string {
  const text = placeText(place);
  if (projectLabel(place) !== undefined) return text;
  const parts = text.split('/').filter((part) => part !== '');
  return parts.length <= SHORT_PARTS + 1 ? text : `…/${parts.slice(-SHORT_PARTS).join('/')}`;
}

/** Undefined if this machine has no path for the URI: other schemes, and folders of other machines. */
function localPath(uri: string): string | undefined {
  if (!uri.startsWith('file://')) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

export function sessionRow(summary: SessionSummary, now: number): string[] {
  const { resource, provider, title, modifiedAt } = summary;
  const progress = openProgress(summary._meta);
  const plan = progress ? ` ${progress.done}/${progress.total}` : '';
  const names = [printable(provider), printable(title), placeText(summary)];
  return [shortId(resource), `${stateOf(summary)}${plan}`, ago(modifiedAt, now), ...names];
}
