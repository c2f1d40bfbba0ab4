/** The log in memory, for tests and for hosts that keep nothing. It promises what the one on disk does, but for the disk. */
import { type Logger, silentLogger } from '../util/logger.js';
import { checkCommit } from './check-commit.js';
import { closedError } from './errors.js';
import { Followers } from './followers.js';
import type { ArchivedTurn, ArchiveHead, Commit, Log, LogEntry, LogRecord, ReadRange, TurnRange } from './log.js';
import { MemoryArchives } from './memory/archives.js';
import { ClientNumbers } from './memory/client-numbers.js';
import { MemoryEntries } from './memory/entries.js';

export class MemoryLog implements Log {
  readonly repairs = [];
  readonly #entries = new MemoryEntries();
  readonly #archives = new MemoryArchives();
  readonly #numbers = new ClientNumbers();
  readonly #records = new Map<string, string>();
  readonly #followers: Followers;
  #closed = false;

  constructor(logger: Logger = silentLogger) {
    this.#followers = new Followers({ read: (after, limit) => this.#entries.read({ after, limit }), logger });
  }

  get head(): number {
    return this.#entries.head;
  }

  get oldest(): number {
    return this.#entries.oldest;
  }

  /** Memory has no pages that rot. */
  onRepair(): void {}

  async append(commit: Commit): Promise<void> {
    this.#checkOpen();
    checkCommit(commit, this.head);
    this.#numbers.check(commit.entries);
    this.#archives.check(commit.archives ?? []);
    for (const entry of commit.entries) this.#store(entry);
    for (const archive of commit.archives ?? []) this.#archives.put(archive);
    for (const record of commit.records ?? []) this.#record(record);
    this.#followers.publish(commit.entries);
  }

  async read(range: ReadRange): Promise<LogEntry[]> {
    this.#checkOpen();
    return this.#entries.read(range);
  }

  follow(after: number, listener: (entry: LogEntry) => void): () => void {
    this.#checkOpen();
    return this.#followers.follow(after, listener);
  }

  async archiveHead(channel: string): Promise<ArchiveHead | undefined> {
    this.#checkOpen();
    return this.#archives.head(channel);
  }

  async archivedTurns(channel: string, range: TurnRange): Promise<ArchivedTurn[]> {
    this.#checkOpen();
    return this.#archives.turns(channel, range);
  }

  async archivedTurnsText(channel: string, range: TurnRange): Promise<string> {
    const turns = await this.archivedTurns(channel, range);
    return turns.map((turn) => turn.json).join(',');
  }

  async findTurn(channel: string, turnId: string): Promise<number | undefined> {
    this.#checkOpen();
    return this.#archives.findTurn(channel, turnId);
  }

  async channels(): Promise<string[]> {
    this.#checkOpen();
    return this.#archives.channels();
  }

  async copyTurns(from: string, to: string, end: number): Promise<void> {
    this.#checkOpen();
    this.#archives.copyTurns(from, to, end);
  }

  async record(key: string): Promise<string | undefined> {
    this.#checkOpen();
    return this.#records.get(key);
  }

  async records(prefix: string): Promise<{ key: string; value: string }[]> {
    this.#checkOpen();
    return [...this.#records]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => ({ key, value }))
      .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  }

  async clientSeqs(clientId: string, epoch: number, from: number): Promise<number[]> {
    this.#checkOpen();
    return this.#numbers.from({ clientId, epoch }, from);
  }

  async compact({ upTo, keep }: { readonly upTo: number; readonly keep: number }): Promise<void> {
    this.#checkOpen();
    this.#entries.drop(Math.min(upTo, this.head - keep), (entry) => this.#isNeeded(entry));
  }

  async forget(channel: string): Promise<void> {
    this.#checkOpen();
    this.#archives.forget(channel);
    this.#entries.blank(channel);
  }

  async forgetClient(clientId: string): Promise<void> {
    this.#checkOpen();
    this.#numbers.forget(clientId);
    this.#entries.disown(clientId);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#followers.close();
  }

  #checkOpen(): void {
    if (this.#closed) throw closedError();
  }

  #store(entry: LogEntry): void {
    this.#entries.add(entry);
    if (entry.origin) this.#numbers.add(entry.origin);
  }

  #record({ key, value }: LogRecord): void {
    if (value === null) this.#records.delete(key);
    else this.#records.set(key, value);
  }

  /** An entry that its channel's archive has not passed is needed to open the channel. */
  #isNeeded({ channel, seq }: LogEntry): boolean {
    return channel !== '' && seq > this.#archives.seqOf(channel);
  }
}
