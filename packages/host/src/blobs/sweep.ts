/**
 * Removes blobs that no stored session names; disposed sessions that a person can restore count as stored. A host
 * sweeps once, in the background, after its start. It reads sessions page by page, and stops when every old blob is
 * named. If reading fails, it removes nothing.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import type { Log } from '@atrium/core/log/log.js';
import type { Service } from '@atrium/core/sessions/service.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { defaultChatUri, sideContextUri } from '@atrium/protocol/ahp-1';

/** A younger blob stays, even if no stored session names it yet. */
const FRESH_MS = 60 * 60 * 1_000;
/** How many turns, or entries, of a session are read at once. */
export const SWEEP_PAGE_TURNS = 50;
export const NAMED = /atrium-content:\/([0-9a-f]{64})/g;
/** Finds the chats that a session names in JSON. */
const CHAT = /"(ahp-chat:[^"\\]+)"/g;

export interface SweepOptions {
  readonly clock: Clock;
  readonly log: Pick<Log, 'archiveHead' | 'archivedTurnsText' | 'read'>;
  readonly blobs: BlobStore;
  /** All stored sessions, including disposed ones. Not called when there are no old blobs. */
  readonly sessions: Iterable<string>;
  readonly signal: AbortSignal;
}

/** Returns how many blobs it removed. */
export async function sweep({ clock, log, blobs, sessions, signal }: SweepOptions): Promise<number> {
  const before = clock.now() - FRESH_MS;
  const unnamed = new Set(await blobs.olderThan(before));
  if (unnamed.size === 0) return 0;
  for (const session of sessions) {
    for await (const text of textsOf(log, session)) {
      for (const [, hash = ''] of text.matchAll(NAMED)) unnamed.delete(hash);
      if (unnamed.size === 0) return 0;
      await nextTurn();
      signal.throwIfAborted();
    }
  }
  let removed = 0;
  for (const hash of unnamed) if (await blobs.delete(hash, before)) removed += 1;
  return removed;
}

/**
 * Everything that is stored for a session and the chats that it names, including the history that side chats begin
 * with.
 */
async function* textsOf(log: SweepOptions['log'], session: string): AsyncGenerator<string, void, undefined> {
  const chats = new Set([defaultChatUri(session)]);
  for await (const text of textsOn(log, session)) {
    for (const [, chat = ''] of text.matchAll(CHAT)) chats.add(chat);
    yield text;
  }
  for (const chat of chats) {
    yield* textsOn(log, chat);
    yield* textsOn(log, sideContextUri(chat));
  }
}

/**
 * Everything that is stored for a channel: its archive, and the entries after it. Returns the last number read.
 * `known`: entries up to this number are not read again.
 */
export async function* textsOn(
  log: SweepOptions['log'],
  channel: string,
  known = -1,
): AsyncGenerator<string, number, undefined> {
  const archive = await log.archiveHead(channel);
  const isNew = archive !== undefined && archive.seq > known;
  if (isNew) yield archive.head;
  for (let start = 0; isNew && start < archive.turnCount; start += SWEEP_PAGE_TURNS) {
    yield await log.archivedTurnsText(channel, { start, end: start + SWEEP_PAGE_TURNS });
  }
  let after = isNew ? archive.seq : Math.max(known, 0);
  for (;;) {
    const entries = await log.read({ after, channel, limit: SWEEP_PAGE_TURNS });
    const last = entries.at(-1);
    if (!last) return after;
    for (const { action } of entries) yield action;
    after = last.seq;
  }
}

export interface BlobSweeperOptions extends Pick<SweepOptions, 'clock' | 'log' | 'blobs'> {
  readonly logger: Logger;
  /** All stored sessions, including disposed ones. */
  storedSessions(): readonly string[];
}

/** Sweeps after the start of the host, without delaying any request. */
export class BlobSweeper implements Service {
  readonly #abort = new AbortController();
  #done: Promise<void> = Promise.resolve();

  constructor(private readonly options: BlobSweeperOptions) {}

  async start(): Promise<void> {
    this.#done = this.#sweep();
  }

  async #sweep(): Promise<void> {
    const { logger, storedSessions, ...rest } = this.options;
    const { signal } = this.#abort;
    try {
      const sessions = { [Symbol.iterator]: () => storedSessions()[Symbol.iterator]() };
      const removed = await sweep({ ...rest, sessions, signal });
      if (removed > 0) logger.log('info', 'removed contents that no session names', { removed });
    } catch (error) {
      if (!signal.aborted) logger.log('warn', 'could not look for unused contents', { error: String(error) });
    }
  }

  /** The log closes next, so the sweep must end. */
  close(): Promise<void> {
    this.#abort.abort();
    return this.#done;
  }
}
