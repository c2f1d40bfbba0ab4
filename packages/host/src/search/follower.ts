/**
 * Keeps an index of the log true. Sessions that changed are compared with the log a moment later, and all of them once after
 * the start: an index that is missing, old or damaged is filled again. The work is done in slices of a few milliseconds with
 * pauses between, which are longer while agents work.
 */
import type { Log } from '@atrium/core/log/log.js';
import { type TextDocument, type TextIndex, TextIndexDamagedError } from '@atrium/core/log/text-index.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { errorText } from '@atrium/core/util/text.js';
import { documentsIn, type ScanOptions } from './scan.js';

/** A session that changed is looked at this long afterwards: what is deleted or cut off is out of the index within a second. */
export const FOLLOW_AFTER_MS = 400;
/** Reading takes so long in one slice, and writing what was read about as long. */
export const SLICE_MS = 4;
const PAUSE_MS = 15;
/** The pause while an agent works: its answers go first. */
const PAUSE_AT_WORK_MS = 100;
/** An index that is damaged again and again is given up: the disk is. */
const REBUILDS_MAX = 3;

export interface FollowerOptions extends ScanOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: Log;
  /** All sessions that are stored, disposed ones too. */
  sessions(): readonly string[];
  /** The chats of a session that is stored; none when it is gone. */
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
  /** Sessions that are to be compared with the log. */
  readonly #changed = new Set<string>();
  /** Whether channels of the index may be gone from the log. */
  #isSweepDue = false;
  #opening: Promise<TextIndex | undefined> | undefined;
  #work: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #wake: () => void = () => {};
  #rebuilds = 0;
  #isClosed = false;
  /** Of the comparison of all sessions; undefined when it is over. */
  #progress: Progress | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** How far the index has come; undefined when it holds everything. */
  get progress(): Progress | undefined {
    return this.#progress;
  }

  /** The index; undefined when the log has none, or it cannot be used. */
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

  /** A session has changed, and that is stored. */
  changed(session: string): void {
    if (!this.#options.log.openTextIndex || this.#isClosed) return;
    this.#changed.add(session);
    this.#schedule(FOLLOW_AFTER_MS);
  }

  /** Something of a session is gone for good. */
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

  /** Deletes a damaged index and begins another one. */
  async rebuild(error: unknown): Promise<void> {
    const { logger } = this.#options;
    this.#rebuilds += 1;
    const isHopeless = this.#rebuilds > REBUILDS_MAX;
    logger.log(
      'warn',
      `the index for search is damaged; ${isHopeless ? 'searching reads everything' : 'it is made anew'}`,
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
      // One that changes again meanwhile is looked at again.
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
    // Finished turns never change, so those before the first one that is where it was are the same.
    while (start > 0 && !(await this.#isSame(index, uri, start - 1))) start -= 1;
    await this.#fill(index, uri, { seq, start, count: known?.count ?? 0 });
  }

  async #isSame(index: TextIndex, uri: string, at: number): Promise<boolean> {
    const id = await index.idAt(uri, at);
    return id !== undefined && (await this.#options.log.findTurn(uri, id)) === at;
  }

  /** Reads a channel from an index on, and stores what it read slice by slice. */
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

  /** Upkeep has a slice of its own. */
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

  /** Resolves when everything that changed so far is in the index. For tests and measurements. */
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
