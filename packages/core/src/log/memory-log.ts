/** A log in memory, for tests and for hosts that keep nothing. It keeps the same contract as the log on disk. */
import { NumberSet } from '../util/number-set.js';
import { checkCommit, checkTurnStart, duplicateOrigin, recordText, turnsPresent } from './check-commit.js';
import { answersPrefix, beginning, epochKey } from './client-records.js';
import {
  type Archive,
  type ArchivedTurn,
  type ArchiveHead,
  type ClientFacts,
  type Commit,
  closedError,
  type EntryOrigin,
  type Log,
  type LogEntry,
  type LogRecord,
  type NewArchive,
  type NewEntry,
  type ReadRange,
  type ReplayLimits,
  type Stored,
  type StoredChannel,
  type StoredRecord,
  type TurnRange,
  type TurnsJson,
  type TurnsJsonRange,
  turnsJson,
} from './log.js';
import { RecentEntries } from './recent-entries.js';

export class MemoryLog implements Log {
  readonly repairs = [];
  readonly #entries = new MemoryEntries();
  readonly #recent = new RecentEntries(0);
  readonly #archives = new MemoryArchives();
  readonly #numbers = new ClientNumbers();
  readonly #records = new Map<string, string>();
  #closed = false;

  get head(): number {
    return this.#entries.head;
  }

  get oldest(): number {
    return this.#entries.oldest;
  }

  /** Never calls back: memory needs no repairs. */
  onRepair(): void {}

  async append(commit: Commit): Promise<Stored> {
    this.#checkOpen();
    checkCommit(commit);
    this.#numbers.check(commit.entries);
    this.#archives.check(commit.archives ?? []);
    const first = this.head + 1;
    for (const entry of commit.entries) this.#store(entry, this.head + 1);
    for (const archive of commit.archives ?? []) this.#archives.put({ ...archive, seq: this.head });
    for (const record of commit.records ?? []) this.#record(record, first);
    const stored = { first, last: this.head };
    this.#recent.add(commit.entries, stored);
    return stored;
  }

  async read(range: ReadRange): Promise<LogEntry[]> {
    this.#checkOpen();
    return this.#entries.read(range);
  }

  async missed(after: number, channels: readonly string[], limits: ReplayLimits) {
    this.#checkOpen();
    return this.#recent.missed({ after, channels, limits }, (range) => this.#entries.read(range));
  }

  async openChannel(channel: string, turns: number): Promise<StoredChannel | undefined> {
    this.#checkOpen();
    const archive = this.#archives.head(channel);
    const tail = this.#entries.read({ after: archive?.seq ?? 0, channel });
    if (!archive && tail.length === 0) return undefined;
    const end = archive?.turnCount ?? 0;
    return { seq: this.head, archive, turns: this.#archives.turns(channel, { start: end - turns, end }), tail };
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

  async archivedTurnsJson(channel: string, { turnMaxBytes, ...range }: TurnsJsonRange): Promise<TurnsJson> {
    return turnsJson(await this.archivedTurns(channel, range), turnMaxBytes);
  }

  async findTurn(channel: string, turnId: string): Promise<number | undefined> {
    this.#checkOpen();
    return this.#archives.findTurn(channel, turnId);
  }

  async channels(): Promise<string[]> {
    this.#checkOpen();
    return this.#archives.channels();
  }

  async copyTurns(from: string, to: string, range: TurnRange): Promise<number> {
    this.#checkOpen();
    return this.#archives.copyTurns(from, to, range);
  }

  async record(key: string): Promise<string | undefined> {
    this.#checkOpen();
    return this.#records.get(key);
  }

  async eachRecord(prefix: string, visit: (record: StoredRecord) => void): Promise<void> {
    for (const record of await this.records(prefix)) visit(record);
  }

  async records(prefix: string): Promise<StoredRecord[]> {
    this.#checkOpen();
    return [...this.#records]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => ({ key, value }))
      .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  }

  async beginClient(clientId: string, facts: ClientFacts): Promise<{ epoch: number }> {
    const answers = await this.records(answersPrefix(clientId));
    const { epoch, commit } = beginning(clientId, { epoch: this.#records.get(epochKey(clientId)), answers }, facts);
    await this.append(commit);
    return { epoch };
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
    this.#recent.blank(channel);
  }

  async forgetClient(clientId: string): Promise<void> {
    this.#checkOpen();
    this.#numbers.forget(clientId);
    this.#entries.disown(clientId);
    this.#recent.disown(clientId);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #checkOpen(): void {
    if (this.#closed) throw closedError();
  }

  #store({ isEphemeral, ...entry }: NewEntry, seq: number): void {
    this.#entries.add({ ...entry, ...(isEphemeral && { channel: '', action: '' }), seq });
    if (entry.origin) this.#numbers.add(entry.origin);
  }

  #record({ key, value }: LogRecord, first: number): void {
    if (value === null) this.#records.delete(key);
    else this.#records.set(key, recordText(value, first));
  }

  /** True while the channel's archive does not include the entry, so that opening the channel needs it. */
  #isNeeded({ channel, seq }: LogEntry): boolean {
    return channel !== '' && seq > this.#archives.seqOf(channel);
  }
}

/** Entries in order: appended at the end, read by number or by channel, dropped from the start. */
class MemoryEntries {
  #head = 0;
  #entries: LogEntry[] = [];

  get head(): number {
    return this.#head;
  }

  get oldest(): number {
    return this.#entries[0]?.seq ?? this.#head + 1;
  }

  add(entry: LogEntry): void {
    this.#head = entry.seq;
    this.#entries.push(entry);
  }

  /** Reads entries. Numbers have no gaps, so the first one is found without a search. */
  read({ after, channel, limit }: ReadRange): LogEntry[] {
    const behind = this.#entries.slice(Math.max(0, after + 1 - this.oldest));
    const chosen = channel === undefined ? behind : behind.filter((entry) => entry.channel === channel);
    return limit === undefined ? chosen : chosen.slice(0, limit);
  }

  /** Drops entries up to a number, but stops at the first one that is still needed. */
  drop(upTo: number, isNeeded: (entry: LogEntry) => boolean): void {
    const firstKept = this.#entries.findIndex((entry) => entry.seq > upTo || isNeeded(entry));
    this.#entries = firstKept < 0 ? [] : this.#entries.slice(firstKept);
  }

  /** Removes the actions of a channel. Their numbers and origins stay. */
  blank(channel: string): void {
    this.#entries = this.#entries.map((entry) =>
      entry.channel === channel ? { ...entry, channel: '', action: '' } : entry,
    );
  }

  /** Removes a client's name from its entries. The actions stay. */
  disown(clientId: string): void {
    this.#entries = this.#entries.map((entry) => {
      if (entry.origin?.clientId !== clientId) return entry;
      const { origin: _origin, ...rest } = entry;
      return rest;
    });
  }
}

/** Each channel's state at one number, and its finished turns. */
class MemoryArchives {
  readonly #heads = new Map<string, Pick<Archive, 'seq' | 'head'>>();
  readonly #turns = new Map<string, readonly ArchivedTurn[]>();

  /** Throws when the turns of a commit would leave a gap, before anything is stored. */
  check(archives: readonly NewArchive[]): void {
    const counts = new Map<string, number>();
    for (const archive of archives) {
      const { channel, turns } = archive;
      checkTurnStart(archive, counts.get(channel) ?? this.#turnsOf(channel).length);
      counts.set(channel, turns.start + turns.items.length);
    }
  }

  put({ channel, seq, head, turns }: Archive): void {
    this.#heads.set(channel, { seq, head });
    this.#turns.set(channel, [...this.#turnsOf(channel).slice(0, turns.start), ...turns.items]);
  }

  head(channel: string): ArchiveHead | undefined {
    const archive = this.#heads.get(channel);
    return archive && { ...archive, turnCount: this.#turnsOf(channel).length };
  }

  channels(): string[] {
    return [...new Set([...this.#heads.keys(), ...this.#turns.keys()])];
  }

  /** The number of a channel's archive. */
  seqOf(channel: string): number {
    return this.#heads.get(channel)?.seq ?? 0;
  }

  turns(channel: string, { start, end, maxBytes }: TurnRange): ArchivedTurn[] {
    const turns = this.#turnsOf(channel).slice(Math.max(0, start), Math.max(0, end));
    if (maxBytes === undefined) return turns;
    let bytes = 0;
    const last = turns.findIndex(({ json }) => {
      bytes += Buffer.byteLength(json);
      return bytes >= maxBytes;
    });
    return last < 0 ? turns : turns.slice(0, last + 1);
  }

  findTurn(channel: string, turnId: string): number | undefined {
    const index = this.#turnsOf(channel).findIndex(({ id }) => id === turnId);
    return index < 0 ? undefined : index;
  }

  copyTurns(from: string, to: string, range: TurnRange): number {
    const there = this.#turnsOf(to);
    if (there.length !== range.start) throw turnsPresent(to, range.start);
    const copied = this.turns(from, range);
    this.#turns.set(to, [...there, ...copied]);
    return copied.length;
  }

  forget(channel: string): void {
    this.#heads.delete(channel);
    this.#turns.delete(channel);
  }

  #turnsOf(channel: string): readonly ArchivedTurn[] {
    return this.#turns.get(channel) ?? [];
  }
}

/**
 * The settled numbers of each client. They are kept apart from the entries, so that dropping entries forgets no number.
 */
class ClientNumbers {
  /** By client and epoch. */
  readonly #settled = new Map<string, Map<number, NumberSet>>();

  /** Throws when a commit has a number that is settled, or has one twice, before anything is stored. */
  check(entries: readonly NewEntry[]): void {
    const fresh = new Set<string>();
    for (const { origin } of entries) {
      if (origin === undefined) continue;
      const { clientId, epoch, clientSeq } = origin;
      const key = `${clientSeq} ${epoch} ${clientId}`;
      if (fresh.has(key) || this.#settled.get(clientId)?.get(epoch)?.has(clientSeq)) throw duplicateOrigin(origin);
      fresh.add(key);
    }
  }

  add({ clientId, epoch, clientSeq }: EntryOrigin): void {
    const epochs = this.#settled.get(clientId) ?? new Map<number, NumberSet>();
    const numbers = epochs.get(epoch) ?? new NumberSet();
    numbers.add(clientSeq);
    this.#settled.set(clientId, epochs.set(epoch, numbers));
  }

  /** The client's numbers at or above `from`, ascending. */
  from({ clientId, epoch }: Pick<EntryOrigin, 'clientId' | 'epoch'>, from: number): number[] {
    return this.#settled.get(clientId)?.get(epoch)?.from(from) ?? [];
  }

  forget(clientId: string): void {
    this.#settled.delete(clientId);
  }
}
