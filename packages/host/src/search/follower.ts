/**
 * Keeps an index in step with the log. Changed sessions are compared with the log a moment later, and all sessions once
 * after the start, so an index that is missing, old or damaged is filled again. The work is done in slices of a few
 * milliseconds with pauses between, which are longer while agents work.
 */
import type { Log } from '@atrium/core/log/log.js';
import { type TextDocument, type TextIndex, TextIndexDamagedError } from '@atrium/core/log/text-index.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { errorText } from '@atrium/core/util/text.js';
import { documentsIn, type ScanOptions } from './scan.js';

/** The delay before a changed session is compared: deleted text is out of the index within a second. */
export const FOLLOW_AFTER_MS = 400;
/** How long one slice reads; writing what it read takes about as long. */
export const SLICE_MS = 4;
const PAUSE_MS = 15;
/** The pause while an agent works, whose answers take precedence. */
const PAUSE_AT_WORK_MS = 100;
/** After this many rebuilds of a damaged index the host gives up, because the disk is probably faulty. */
const REBUILDS_MAX = 3;

export interface FollowerOptions extends ScanOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: Log;
  /** All stored sessions, including disposed ones. */
  sessions(): readonly string[];
  /** The chats of a stored session; none when it is gone. */
  chatsOf(session: string): readonly string[];
  /** Whether a session or chat is stored. */
  isStored(uri: string): boolean;
  isAtWork(): boolean;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
}

export class IndexFollower {
  readonly #options: FollowerOptions;
  /** Sessions that must be compared with the log. */
  readonly #changed = new Set<string>();
  /** Whether the index may have channels that are no longer in the log. */
  #isSweepDue = false;
  #opening: Promise<TextIndex | undefined> | undefined;
  #work: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #wake: () => void = () => {};
  #rebuilds = 0;
  #isClosed = false;
  /** The progress of comparing all sessions; undefined when that is done. */
  #progress: Progress | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** The index's progress; undefined when it holds everything. */
  get progress(): Progress | undefined {
    return this.#progress;
  }

  /** The index; undefined when the log has none, or when it is unusable. */
  index(): Promise<TextIndex | undefined> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(anew = false): Promise<TextIndex | undefined> {
    const { log, logger } = this.#options;
    if (!log.openTextIndex || this.#isClosed) return undefined;
    try {
      const index = await log.openTextIndex({ anew });
      this.#compareAll();
      return index;
    } catch (error) {
      logger.log('warn', 'there is no index for search; searching reads everything', { error: errorText(error) });
      return undefined;
    }
  }

  #compareAll(): void {
    const sessions = this.#options.sessions();
    for (const session of sessions) this.#changed.add(session);
    this.#isSweepDue = true;
    this.#progress = { done: 0, total: sessions.length };
    this.#schedule(0);
  }

  /** A session has changed, and the change is stored. */
  changed(session: string): void {
    if (!this.#options.log.openTextIndex || this.#isClosed) return;
    this.#changed.add(session);
    this.#schedule(FOLLOW_AFTER_MS);
  }

  /** Part of a session is gone for good. */
  gone(): void {
    this.#isSweepDue = true;
    this.#schedule(FOLLOW_AFTER_MS);
  }

  #schedule(after: number): void {
    if (this.#work || this.#cancel || this.#isClosed) return;
    this.#cancel = this.#options.clock.after(after, () => {
      this.#cancel = undefined;
      this.#work = this.#follow().finally(() => {
        this.#work = undefined;
        if (this.#changed.size > 0 || this.#isSweepDue) this.#schedule(FOLLOW_AFTER_MS);
      });
    });
  }

  async #follow(): Promise<void> {
    const index = await this.index();
    if (!index) {
      this.#changed.clear();
      this.#isSweepDue = false;
      return;
    }
    try {
      await this.#compare(index);
    } catch (error) {
      await this.#failed(error);
    }
  }

  async #failed(error: unknown): Promise<void> {
    const { logger } = this.#options;
    if (this.#isClosed) return;
    if (error instanceof TextIndexDamagedError) return this.rebuild(error);
    logger.log('warn', 'the index for search could not be written; the host tries again', { error: errorText(error) });
    await this.#pause(FOLLOW_AFTER_MS);
  }

  /** Deletes a damaged index and begins a new one. */
  async rebuild(error: unknown): Promise<void> {
    const { logger } = this.#options;
    this.#rebuilds += 1;
    const isHopeless = this.#rebuilds > REBUILDS_MAX;
    logger.log(
      'warn',
      `the index for search is damaged; ${isHopeless ? 'searching reads everything' : 'it is built again'}`,
      {
        error: errorText(error),
      },
    );
    this.#opening = isHopeless ? Promise.resolve(undefined) : this.#open(true);
    await this.#opening;
  }

  async #compare(index: TextIndex): Promise<void> {
    for (const session of this.#changed) {
      if (this.#isClosed) return;
      // A session that changes again meanwhile is compared again.
      this.#changed.delete(session);
      try {
        for (const uri of [session, ...this.#options.chatsOf(session)]) await this.#compareChannel(index, uri);
      } catch (error) {
        this.#changed.add(session);
        throw error;
      }
      if (this.#progress) this.#progress = { ...this.#progress, done: this.#progress.done + 1 };
    }
    if (this.#isSweepDue) await this.#sweep(index);
    this.#progress = undefined;
  }

  async #sweep(index: TextIndex): Promise<void> {
    for (const uri of await index.channels()) {
      if (this.#isClosed) return;
      if (!this.#options.isStored(uri)) await index.forget(uri);
    }
    this.#isSweepDue = false;
  }

  async #compareChannel(index: TextIndex, uri: string): Promise<void> {
    const { log, titleOf, isStored } = this.#options;
    const known = await index.channel(uri);
    if (!isStored(uri)) return known && index.forget(uri);
    const named = titleOf(uri);
    if (named) {
      if ((await index.idAt(uri, 0)) !== named.title) await this.#fill(index, uri, { seq: 0, start: 0, count: 0 });
      return;
    }
    const archive = await log.archiveHead(uri);
    const { seq = 0, turnCount: count = 0 } = archive ?? {};
    if (known ? known.seq === seq && known.count === count : count === 0) return;
    let start = Math.min(known?.count ?? 0, count);
    // Finished turns never change, so all turns before the last one that matches are the same.
    while (start > 0 && !(await this.#isSame(index, uri, start - 1))) start -= 1;
    await this.#fill(index, uri, { seq, start, count: known?.count ?? 0 });
  }

  async #isSame(index: TextIndex, uri: string, at: number): Promise<boolean> {
    const id = await index.idAt(uri, at);
    return id !== undefined && (await this.#options.log.findTurn(uri, id)) === at;
  }

  /** Reads a channel from an index on, and stores it slice by slice. */
  async #fill(
    index: TextIndex,
    uri: string,
    { seq, start, count }: { readonly seq: number; readonly start: number; readonly count: number },
  ): Promise<void> {
    let from = start;
    let documents: TextDocument[] = [];
    let begun = performance.now();
    const store = async () => {
      await index.replace(uri, { seq, start: from, documents });
      from += documents.length;
      documents = [];
      await this.#tidy(index);
      begun = performance.now();
    };
    for await (const { document } of documentsIn(this.#options, uri, start)) {
      if (this.#isClosed) return;
      documents.push(document);
      if (performance.now() - begun >= SLICE_MS) await store();
    }
    if (documents.length > 0 || from < count || from === start) await store();
  }

  /** Upkeep of the index has its own slice. */
  async #tidy(index: TextIndex): Promise<void> {
    await this.#pause();
    const begun = performance.now();
    while (!this.#isClosed && performance.now() - begun < SLICE_MS) if (!(await index.tidy())) return;
    await this.#pause();
  }

  async #pause(milliseconds = this.#options.isAtWork() ? PAUSE_AT_WORK_MS : PAUSE_MS): Promise<void> {
    if (this.#isClosed) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#cancel = this.#options.clock.after(milliseconds, resolve);
    });
    this.#cancel = undefined;
  }

  /** For tests and measurements: resolves when all changes so far are in the index. */
  async settled(): Promise<void> {
    await this.index();
    while (this.#work || this.#cancel) {
      await (this.#work ?? new Promise((resolve) => this.#options.clock.after(1, () => resolve(undefined))));
    }
  }

  /** The log closes next, and the index with it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    this.#wake();
    await this.#work;
  }
}
