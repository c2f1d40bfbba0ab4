/**
 * Removes kept contents that no stored session names, disposed ones that can be restored included. What sessions say is
 * looked through page by page, in the background, and only as long as there is anything to be removed at all. When that
 * fails halfway, nothing is removed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../core/log/log.js';
import type { Clock } from '../core/util/clock.js';
import { CONTENT_FRESH_MS, SWEEP_PAGE_TURNS } from '../workspace/files/limits.js';
import type { KeptContents } from './kept-contents.js';

const NAMED = /atrium-content:\/([0-9a-f]{64})/g;

export interface SweepParts {
  readonly clock: Clock;
  readonly log: Pick<Log, 'archiveHead' | 'archivedTurnsText' | 'read'>;
  readonly contents: KeptContents;
  /** All sessions that are stored, also disposed ones. */
  readonly sessions: readonly string[];
  readonly signal: AbortSignal;
}

/** Says how many contents were removed. */
export async function sweep({ clock, log, contents, sessions, signal }: SweepParts): Promise<number> {
  const before = clock.now() - CONTENT_FRESH_MS;
  const unnamed = new Set(await contents.olderThan(before));
  for (const session of sessions) {
    if (unnamed.size === 0) return 0;
    for await (const text of textsOf(log, session)) {
      for (const [, hash = ''] of text.matchAll(NAMED)) unnamed.delete(hash);
      await nextTurn();
      signal.throwIfAborted();
    }
  }
  let removed = 0;
  for (const hash of unnamed) if (await contents.remove(hash, before)) removed += 1;
  return removed;
}

/** Everything that is stored of a session, as text. */
async function* textsOf(log: SweepParts['log'], session: string): AsyncGenerator<string, void, undefined> {
  const archive = await log.archiveHead(session);
  if (archive) yield archive.head;
  for (let start = 0; start < (archive?.turnCount ?? 0); start += SWEEP_PAGE_TURNS) {
    yield await log.archivedTurnsText(session, { start, end: start + SWEEP_PAGE_TURNS });
  }
  let after = archive?.seq ?? 0;
  for (;;) {
    const entries = await log.read({ after, channel: session, limit: SWEEP_PAGE_TURNS });
    const last = entries.at(-1);
    if (!last) return;
    for (const { action } of entries) yield action;
    after = last.seq;
  }
}
