/** Who follows a log, and how far each has come. Stored entries are read page by page; new ones are handed on. */
import type { Logger } from '../util/logger.js';
import type { LogEntry } from './log.js';

/** Entries read in one go for a follower that is behind; the event loop turns between pages. */
export const FOLLOW_PAGE_ENTRIES = 256;

interface Follower {
  readonly listener: (entry: LogEntry) => void;
  /** The last number delivered. */
  position: number;
  /** `behind` reads from the log; `live` gets what is published. */
  state: 'behind' | 'live' | 'gone';
}

export interface FollowersOptions {
  readonly read: (after: number, limit: number) => readonly LogEntry[];
  readonly logger: Logger;
}

export class Followers {
  readonly #options: FollowersOptions;
  readonly #followers = new Set<Follower>();
  readonly #published: LogEntry[] = [];
  #delivering = false;

  constructor(options: FollowersOptions) {
    this.#options = options;
  }

  follow(after: number, listener: (entry: LogEntry) => void): () => void {
    const follower: Follower = { listener, position: after, state: 'behind' };
    this.#followers.add(follower);
    setImmediate(() => this.#catchUp(follower));
    return () => this.#remove(follower);
  }

  /** A listener may append: what that publishes waits its turn, so that everybody sees one order. */
  publish(entries: readonly LogEntry[]): void {
    if (this.#followers.size === 0) return;
    this.#published.push(...entries);
    if (this.#delivering) return;
    this.#delivering = true;
    for (let entry = this.#published.shift(); entry !== undefined; entry = this.#published.shift()) {
      for (const follower of this.#followers) if (follower.state === 'live') this.#deliver(follower, entry);
    }
    this.#delivering = false;
  }

  close(): void {
    for (const follower of this.#followers) this.#remove(follower);
  }

  #catchUp(follower: Follower): void {
    if (follower.state !== 'behind') return;
    const page = this.#readPage(follower);
    for (const entry of page) this.#deliver(follower, entry);
    if (page.length === FOLLOW_PAGE_ENTRIES) setImmediate(() => this.#catchUp(follower));
    else this.#joinLive(follower);
  }

  /** Reading and joining happen in one go unless a listener appended meanwhile: then there is one more page. */
  #joinLive(follower: Follower): void {
    if (follower.state !== 'behind') return;
    if (this.#options.read(follower.position, 1).length > 0) this.#catchUp(follower);
    else follower.state = 'live';
  }

  /** Nobody awaits this read: a follower whose entries cannot be read is dropped, and the log says so. */
  #readPage(follower: Follower): readonly LogEntry[] {
    try {
      return this.#options.read(follower.position, FOLLOW_PAGE_ENTRIES);
    } catch (error) {
      this.#remove(follower);
      this.#complain('a follower was dropped: the log cannot be read', follower.position, error);
      return [];
    }
  }

  #deliver(follower: Follower, entry: LogEntry): void {
    if (follower.state === 'gone' || entry.seq <= follower.position) return;
    follower.position = entry.seq;
    try {
      follower.listener(entry);
    } catch (error) {
      this.#complain('a follower of the log failed on an entry', entry.seq, error);
    }
  }

  #complain(message: string, seq: number, error: unknown): void {
    this.#options.logger.log('error', message, { seq, error: error instanceof Error ? error.message : String(error) });
  }

  #remove(follower: Follower): void {
    follower.state = 'gone';
    this.#followers.delete(follower);
  }
}
