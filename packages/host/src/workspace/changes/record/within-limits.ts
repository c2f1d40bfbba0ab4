/** As much of what a call changed as a session may remember. What is left out is said. */
import { type Change, changeOf, type Entry } from '../entry.js';
import { SESSION_MAX_BYTES, SESSION_MAX_CHANGES, STEP_MAX_FILES } from '../limits.js';
import type { Found } from '../snapshots/snapshot.js';
import type { Journal } from './journal.js';

const TOO_MANY = `a call changed more than ${STEP_MAX_FILES} files`;
const FULL = `${SESSION_MAX_BYTES / 2 ** 30} GiB are kept for this session already, and no more contents`;
const NO_MORE = `${SESSION_MAX_CHANGES} changes are remembered for this session already, and no more`;

export function withinLimits({ changes, gap }: Found, { bytes, size }: Journal): Found {
  if (size > SESSION_MAX_CHANGES) return { changes: [], gap: NO_MORE };
  if (bytes > SESSION_MAX_BYTES) return { changes: changes.slice(0, STEP_MAX_FILES).map(withoutContents), gap: FULL };
  if (changes.length > STEP_MAX_FILES) return { changes: changes.slice(0, STEP_MAX_FILES), gap: TOO_MANY };
  return { changes, ...(gap !== undefined && { gap }) };
}

function withoutContents({ path, before, after }: Change): Change {
  const lose = (entry: Entry | undefined) => entry && { ...entry, isLost: true as const };
  return changeOf(path, lose(before), lose(after));
}
