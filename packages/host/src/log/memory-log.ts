/** The log in memory, for tests and for hosts that keep nothing. It promises what the one on disk does, but for the disk. */
import { type Logger, silentLogger } from '../logger.js';
import { checkCommit, checkTurnStart, duplicateOrigin, turnsPresent } from './check-commit.js';
import { closedError } from './errors.js';
import { Followers } from './followers.js';
import type {
  Archive,
  ArchivedTurn,
  ArchiveHead,
  Commit,
  EntryOrigin,
  Log,
  LogEntry,
  LogRecord,
  ReadRange,
  TurnRange,
} from './log.js';

interface StoredArchive {
  readonly seq: number;
  readonly head: string;
}

export class MemoryLog implements Log {
  readonly repairs = [];
  #head = 0;
  #entries: LogEntry[] = [];
  #closed = false;
  readonly #archives = new Map<string, StoredArchive>();
  readonly #turns = new Map<string, ArchivedTurn[]>();
  readonly #records = new Map<string, string>();
  /** Kept for good, so that dropping entries forgets no number. */
  readonly #clientSeqs = new Map<string, Set<number>>();
  readonly #followers: Followers;

  constructor(logger: Logger = silentLogger) {
    this.#followers = new Followers({ read: (after, limit) => this.#select({ after, limit }), logger });
  }

  get head(): number {
    return this.#head;
  }

  get oldest(): number {
    return this.#entries[0]?.seq ?? this.#head + 1;
  }

  async append(commit: Commit): Promise<void> {
    this.#checkOpen();
    checkCommit(commit, this.#head);
    this.#checkOrigins(commit.entries);
    this.#checkTurns(commit.archives ?? []);
    for (const entry of commit.entries) this.#store(entry);
    for (const archive of commit.archives ?? []) this.#archive(archive);
    for (const record of commit.records ?? []) this.#record(record);
    this.#followers.publish(commit.entries);
  }

  async read(range: ReadRange): Promise<LogEntry[]> {
    this.#checkOpen();
    return this.#select(range);
  }

  follow(after: number, listener: (entry: LogEntry) => void): () => void {
    this.#checkOpen();
    return this.#followers.follow(after, listener);
  }

  async archiveHead(channel: string): Promise<ArchiveHead | undefined> {
    this.#checkOpen();
    const archive = this.#archives.get(channel);
    return archive && { ...archive, turnCount: this.#turnsOf(channel).length };
  }

  async archivedTurns(channel: string, range: TurnRange): Promise<ArchivedTurn[]> {
    this.#checkOpen();
    return this.#turnsOf(channel).slice(Math.max(0, range.start), Math.max(0, range.end));
  }

  async archivedTurnsText(channel: string, range: TurnRange): Promise<string> {
    const turns = await this.archivedTurns(channel, range);
    return turns.map((turn) => turn.json).join(',');
  }

  async findTurn(channel: string, turnId: string): Promise<number | undefined> {
    this.#checkOpen();
    const index = this.#turnsOf(channel).findIndex((turn) => turn.id === turnId);
    return index < 0 ? undefined : index;
  }

  async copyTurns(from: string, to: string, end: number): Promise<void> {
    this.#checkOpen();
    if (this.#turnsOf(to).length > 0) throw turnsPresent(to);
    this.#turns.set(to, this.#turnsOf(from).slice(0, Math.max(0, end)));
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
    const seqs = this.#clientSeqs.get(clientKey(clientId, epoch)) ?? [];
    return [...seqs].filter((seq) => seq >= from).sort((a, b) => a - b);
  }

  async compact({ upTo, keep }: { readonly upTo: number; readonly keep: number }): Promise<void> {
    this.#checkOpen();
    const cut = Math.min(upTo, this.#head - keep);
    const firstKept = this.#entries.findIndex((entry) => entry.seq > cut || this.#isNeeded(entry));
    this.#entries = firstKept < 0 ? [] : this.#entries.slice(firstKept);
  }

  async forget(channel: string): Promise<void> {
    this.#checkOpen();
    this.#archives.delete(channel);
    this.#turns.delete(channel);
    this.#entries = this.#entries.map((entry) =>
      entry.channel === channel ? { ...entry, channel: '', action: '' } : entry,
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#followers.close();
  }

  #checkOpen(): void {
    if (this.#closed) throw closedError();
  }

  #checkOrigins(entries: readonly LogEntry[]): void {
    const fresh = new Set<string>();
    for (const { origin } of entries) {
      if (origin === undefined) continue;
      const key = originKey(origin);
      if (fresh.has(key) || this.#isSettled(origin)) throw duplicateOrigin(origin);
      fresh.add(key);
    }
  }

  #isSettled({ clientId, epoch, clientSeq }: EntryOrigin): boolean {
    return this.#clientSeqs.get(clientKey(clientId, epoch))?.has(clientSeq) ?? false;
  }

  #checkTurns(archives: readonly Archive[]): void {
    const counts = new Map<string, number>();
    for (const archive of archives) {
      const { channel, turns } = archive;
      checkTurnStart(archive, counts.get(channel) ?? this.#turnsOf(channel).length);
      counts.set(channel, turns.start + turns.items.length);
    }
  }

  #store(entry: LogEntry): void {
    this.#head = entry.seq;
    this.#entries.push(entry);
    if (entry.origin === undefined) return;
    const key = clientKey(entry.origin.clientId, entry.origin.epoch);
    const seqs = this.#clientSeqs.get(key) ?? new Set();
    this.#clientSeqs.set(key, seqs.add(entry.origin.clientSeq));
  }

  #archive({ channel, seq, head, turns }: Archive): void {
    this.#archives.set(channel, { seq, head });
    this.#turns.set(channel, [...this.#turnsOf(channel).slice(0, turns.start), ...turns.items]);
  }

  #record({ key, value }: LogRecord): void {
    if (value === null) this.#records.delete(key);
    else this.#records.set(key, value);
  }

  #turnsOf(channel: string): readonly ArchivedTurn[] {
    return this.#turns.get(channel) ?? [];
  }

  #select({ after, channel, limit }: ReadRange): LogEntry[] {
    const first = Math.max(0, after + 1 - this.oldest);
    const behind = this.#entries.slice(first);
    const chosen = channel === undefined ? behind : behind.filter((entry) => entry.channel === channel);
    return limit === undefined ? chosen : chosen.slice(0, limit);
  }

  /** An entry that its channel's archive has not passed is needed to open the channel. */
  #isNeeded({ channel, seq }: LogEntry): boolean {
    return channel !== '' && seq > (this.#archives.get(channel)?.seq ?? 0);
  }
}

function clientKey(clientId: string, epoch: number): string {
  return `${epoch} ${clientId}`;
}

function originKey({ clientId, epoch, clientSeq }: EntryOrigin): string {
  return `${clientSeq} ${clientKey(clientId, epoch)}`;
}
