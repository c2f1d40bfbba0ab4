/**
 * The log of a cluster, in PostgreSQL. One commit is one statement, which the engine stores as a whole and answers with
 * the numbers. The engine accepts it only from the host and the term that it knows as active; a host that was declared
 * dead learns of it by its next commit, and stops. What can be lost: only what the engine loses, and with a synchronous
 * stand-by of the engine that is nothing.
 */
import { checkCommit, checkTurnStart, duplicateOrigin, turnsPresent } from '@atrium/core/log/check-commit.js';
import { answersPrefix, epochKey, knownKey } from '@atrium/core/log/client-records.js';
import {
  type ArchivedTurn,
  type ArchiveHead,
  type ClientFacts,
  type Commit,
  closedError,
  type LogEntry,
  LogFencedError,
  LogNotOwnerError,
  LogUnavailableError,
  LogWriteError,
  type ReadRange,
  type ReplayLimits,
  type Stored,
  type StoredChannel,
  type StoredRecord,
  type TurnRange,
  type TurnsJson,
  type TurnsJsonRange,
  turnsJson,
} from '@atrium/core/log/log.js';
import { RecentEntries } from '@atrium/core/log/recent-entries.js';
import type {
  Change,
  ChangePosition,
  Claim,
  HostTerm,
  SharedCommit,
  SharedLog,
  Wanted,
} from '@atrium/core/log/shared-log.js';
import type { TextIndex } from '@atrium/core/log/text-index.js';
import { type Logger, silentLogger } from '@atrium/core/util/logger.js';
import { ChangeReader } from './change-reader.js';
import { APPEND, commitValues, ownerValues } from './commit-values.js';
import { Engine, EngineError, type EngineValue } from './engine.js';
import { EngineReader } from './engine-reader.js';
import type { EngineUrl } from './engine-url.js';
import { EphemeralChannels } from './ephemeral-channels.js';
import { REFUSED } from './schema.js';
import { nameFromEngine, nameToEngine } from './texts.js';

/** Entries that are dropped in one transaction. */
const COMPACT_BATCH_ENTRIES = 2_000;
const DISK_FULL = '53100';
const UNIQUE_VIOLATION = '23505';

export interface PostgresLogOptions {
  readonly url: EngineUrl;
  /** The active host: see `Membership`. */
  readonly owner: HostTerm;
  /**
   * `everything`: the host is the only one that writes. `claims`: it writes to channels that it has claimed, as others
   * do.
   */
  readonly owns?: 'everything' | 'claims';
  readonly logger?: Logger;
  /** Opens the full text index, which each host builds for itself; without one, searches read the log. */
  readonly textIndex?: (options: { readonly anew: boolean }) => Promise<TextIndex>;
}

export async function openPostgresLog(options: PostgresLogOptions): Promise<PostgresLog> {
  const reader = new EngineReader(new Engine(options.url, 'reads'));
  try {
    return new PostgresLog(options, reader, await reader.bounds());
  } catch (error) {
    await reader.close();
    throw error;
  }
}

export class PostgresLog implements SharedLog {
  readonly repairs = [];
  readonly #engine: Engine;
  readonly #reader: EngineReader;
  readonly #owner: readonly [string, number];
  readonly #logger: Logger;
  readonly #isShared: boolean;
  /** Absent if searches read the log. */
  readonly openTextIndex?: SharedLog['openTextIndex'];
  #textIndex: TextIndex | undefined;
  /** Absent when other hosts write as well, because then only the engine knows what was missed. */
  #recent: RecentEntries | undefined;
  readonly #changes: ChangeReader;
  readonly #ephemeral = new EphemeralChannels();
  #head: number;
  #oldest: number;
  #commits = 0;
  /** The commit whose answer did not arrive. Sending the same commit again yields the same number. */
  #unanswered: SharedCommit | undefined;
  #line: Promise<unknown> = Promise.resolve();
  #fenced: LogFencedError | undefined;
  #closed = false;
  readonly #ended = new AbortController();

  constructor(options: PostgresLogOptions, reader: EngineReader, { head, oldest }: { head: number; oldest: number }) {
    const { url, owner, logger = silentLogger } = options;
    this.#engine = new Engine(url, 'commits');
    this.#reader = reader;
    this.#owner = [owner.host, owner.term];
    this.#logger = logger;
    const { textIndex } = options;
    if (textIndex) this.openTextIndex = ({ anew = false } = {}) => this.#openIndex(() => textIndex({ anew }));
    this.#head = head;
    this.#oldest = oldest;
    this.#isShared = options.owns === 'claims';
    this.#recent = this.#isShared ? undefined : new RecentEntries(head);
    this.#changes = new ChangeReader(new Engine(url, 'changes'));
  }

  get head(): number {
    return this.#head;
  }

  get oldest(): number {
    return this.#oldest;
  }

  /** The engine has its own checksums. */
  onRepair(): void {}

  /**
   * Rejects everything from now on: this host may have been declared dead, and must not wait for an engine to tell it.
   */
  fence(reason: string): void {
    this.#fenced ??= new LogFencedError(reason);
    this.#engine.cut();
  }

  append(commit: SharedCommit): Promise<Stored> {
    const stored = this.#line.then(() => this.#append(commit));
    this.#line = stored.catch(() => {});
    return stored;
  }

  async #append(commit: SharedCommit): Promise<Stored> {
    this.#checkOpen();
    checkCommit(commit);
    if (this.#unanswered !== commit) await this.#settleUnanswered();
    const nth = this.#unanswered === commit ? this.#commits : ++this.#commits;
    this.#unanswered = commit;
    const stored = await this.#send(commit, nth);
    this.#unanswered = undefined;
    this.#took(commit, stored);
    return stored;
  }

  async #send(commit: SharedCommit, nth: number): Promise<Stored> {
    try {
      const owners = ownerValues(this.#isShared ? (commit.owners ?? []) : undefined);
      const values = [...this.#owner, nth, ...commitValues(commit), ...owners];
      const [row] = await this.#engine.runPrepared<Stored>('append', APPEND, values);
      if (!row) throw new LogUnavailableError('the engine gave no answer');
      return { first: row.first, last: row.last };
    } catch (error) {
      if (this.#fenced) throw this.#fenced;
      if (error instanceof EngineError) {
        // Nothing of it is stored, so its number is free.
        this.#commits = nth - 1;
        this.#unanswered = undefined;
        throw this.#refusal(error, commit);
      }
      throw error;
    }
  }

  /**
   * The writer has given up a commit and undone it. If the engine stored it after all, this host's memory differs from
   * the log, and it has to join again.
   */
  async #settleUnanswered(): Promise<void> {
    if (!this.#unanswered) return;
    const [row] = await this.#change<{ stored: boolean }>('give_up($1, $2, $3) AS stored', [this.#commits]);
    this.#unanswered = undefined;
    if (row?.stored) this.fence('a commit that was given up has been stored: this host reads everything again');
    this.#checkOpen();
  }

  #took(commit: Commit, stored: Stored): void {
    if (this.#recent && stored.first !== this.#head + 1) {
      this.#logger.log('warn', 'the numbers skipped ahead: returning clients get snapshots', {
        first: stored.first,
      });
      this.#recent = new RecentEntries(stored.first - 1);
      this.#oldest = stored.first;
    }
    this.#head = Math.max(this.#head, stored.last);
    this.#recent?.add(commit.entries, stored);
    this.#ephemeral.add(commit.entries, stored);
  }

  read(range: ReadRange): Promise<LogEntry[]> {
    return this.#reading(() => this.#reader.entries(range));
  }

  missed(after: number, channels: readonly string[], limits: ReplayLimits) {
    const request = { after, channels, limits };
    return this.#reading(async () => {
      const recent = this.#recent?.missed(request, () => []);
      const isNotStored = this.#ephemeral.isLostBehind(after, channels) || (this.#recent && after > this.#head);
      return recent || isNotStored ? recent : this.#reader.missed(request);
    });
  }

  openChannel(channel: string, turns: number): Promise<StoredChannel | undefined> {
    return this.#reading(() => this.#reader.openChannel(channel, turns));
  }

  archiveHead(channel: string): Promise<ArchiveHead | undefined> {
    return this.#reading(() => this.#reader.archiveHead(channel));
  }

  archivedTurns(channel: string, range: TurnRange): Promise<ArchivedTurn[]> {
    return this.#reading(() => this.#reader.turns(channel, range));
  }

  async archivedTurnsText(channel: string, range: TurnRange): Promise<string> {
    const turns = await this.archivedTurns(channel, range);
    return turns.map(({ json }) => json).join(',');
  }

  async archivedTurnsJson(channel: string, { turnMaxBytes, ...range }: TurnsJsonRange): Promise<TurnsJson> {
    return turnsJson(await this.archivedTurns(channel, range), turnMaxBytes);
  }

  findTurn(channel: string, turnId: string): Promise<number | undefined> {
    return this.#reading(() => this.#reader.findTurn(channel, turnId));
  }

  channels(): Promise<string[]> {
    return this.#reading(() => this.#reader.channels());
  }

  async copyTurns(from: string, to: string, { start, end, maxBytes }: TurnRange): Promise<number> {
    this.#checkOpen();
    const values = [nameToEngine(from), nameToEngine(to), start, end, maxBytes ?? null];
    try {
      const [row] = await this.#change<{ copied: number }>('copy_turns($1, $2, $3, $4, $5, $6, $7) AS copied', values);
      return row?.copied ?? 0;
    } catch (error) {
      throw error instanceof LogWriteError && codeOf(error) === REFUSED.turnsPresent ? turnsPresent(to, start) : error;
    }
  }

  record(key: string): Promise<string | undefined> {
    return this.#reading(() => this.#reader.record(key));
  }

  async records(prefix: string): Promise<StoredRecord[]> {
    const records: StoredRecord[] = [];
    await this.eachRecord(prefix, (record) => records.push(record));
    return records;
  }

  eachRecord(prefix: string, visit: (record: StoredRecord) => void): Promise<void> {
    return this.#reading(() => this.#reader.eachRecord(prefix, visit));
  }

  async beginClient(clientId: string, { above, known }: ClientFacts): Promise<{ epoch: number }> {
    this.#checkOpen();
    const keys = [epochKey(clientId), answersPrefix(clientId), knownKey(clientId)].map(nameToEngine);
    const values = [...keys, above, known.before, known.after];
    const [row] = await this.#change<{ epoch: number }>(
      'begin_client($1, $2, $3, $4, $5, $6, $7, $8) AS epoch',
      values,
    );
    if (!row) throw new LogUnavailableError('the engine gave no answer');
    return row;
  }

  clientSeqs(clientId: string, epoch: number, from: number): Promise<number[]> {
    return this.#reading(() => this.#reader.clientSeqs(clientId, epoch, from));
  }

  async compact({ upTo, keep }: { readonly upTo: number; readonly keep: number }): Promise<void> {
    this.#checkOpen();
    const last = Math.min(upTo, this.#head - keep);
    for (let dropped: number | null = 0; dropped !== null && !this.#closed; ) {
      const values = [last, COMPACT_BATCH_ENTRIES];
      const [row] = await this.#change<{ dropped: number | null }>('drop_entries($1, $2, $3, $4) AS dropped', values);
      dropped = row?.dropped ?? null;
      if (dropped !== null) this.#oldest = Math.max(this.#oldest, dropped + 1);
    }
  }

  async forget(channel: string): Promise<void> {
    this.#checkOpen();
    await this.#change('forget_channel($1, $2, $3)', [nameToEngine(channel)]);
    this.#recent?.blank(channel);
  }

  async forgetClient(clientId: string): Promise<void> {
    this.#checkOpen();
    await this.#change('forget_client($1, $2, $3)', [nameToEngine(clientId)]);
    this.#recent?.disown(clientId);
  }

  async claim(channels: readonly string[]): Promise<Claim> {
    this.#checkOpen();
    const call = 'c.channel, c.host, c.term FROM claim_channels($1, $2, $3::text[]) AS c';
    const rows = await this.#change<HostTerm & { channel: string }>(call, [channels.map(nameToEngine)]);
    const [host, term] = this.#owner;
    const others = rows.filter((row) => row.host !== host || row.term !== term);
    if (others.length === 0) return { isMine: true };
    return { isMine: false, owners: others.map((row) => ({ ...row, channel: nameFromEngine(row.channel) })) };
  }

  async release(channels: readonly string[]): Promise<void> {
    this.#checkOpen();
    await this.#change('release_channels($1, $2, $3::text[])', [channels.map(nameToEngine)]);
  }

  position(): Promise<ChangePosition> {
    return this.#reading(() => this.#changes.position());
  }

  changes(after: ChangePosition, wanted: Wanted, signal: AbortSignal): AsyncIterable<Change> {
    return this.#changes.changes(after, wanted, AbortSignal.any([signal, this.#ended.signal]));
  }

  hint(): void {
    this.#changes.hint();
  }

  async #openIndex(open: () => Promise<TextIndex>): Promise<TextIndex> {
    this.#checkOpen();
    await this.#textIndex?.close().catch(() => {});
    this.#textIndex = await open();
    return this.#textIndex;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#ended.abort();
    await this.#textIndex?.close().catch(() => {});
    await this.#line;
    await Promise.all([this.#engine.close(), this.#reader.close(), this.#changes.close()]);
  }

  async #reading<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw closedError();
    return work();
  }

  /** Calls one of our functions as the owner. */
  async #change<Row extends object>(call: string, values: readonly EngineValue[]): Promise<Row[]> {
    try {
      return await this.#engine.run<Row>(`SELECT ${call}`, [...this.#owner, ...values]);
    } catch (error) {
      if (this.#fenced) throw this.#fenced;
      throw error instanceof EngineError ? this.#refusal(error) : error;
    }
  }

  #checkOpen(): void {
    if (this.#closed) throw closedError();
    if (this.#fenced) throw this.#fenced;
  }

  #refusal(error: EngineError, commit?: Commit): Error {
    const { code, message, constraint, detail } = error;
    if (code === REFUSED.fenced) return this.#fencedBy(`another host has taken over: ${message}`);
    if (code === REFUSED.older)
      return this.#fencedBy(`the engine has lost commits of this host (${message}): it reads everything again`);
    if (code === REFUSED.givenUp) return this.#fencedBy(`${message}, and came again`);
    if (code === REFUSED.notOwner)
      return new LogNotOwnerError((JSON.parse(detail ?? '[]') as string[]).map(nameFromEngine));
    const refused = commit && refusedCommit(error, commit);
    if (refused) return refused;
    if (code === DISK_FULL)
      return new LogWriteError('disk-full', 'the disk of the engine is full: make room there; nothing was stored', {
        cause: error,
      });
    const what = [message, constraint, detail].filter(Boolean).join('; ');
    return new LogWriteError('failed', `the engine refused: ${what}`, { cause: error });
  }

  #fencedBy(reason: string): LogFencedError {
    this.#fenced ??= new LogFencedError(reason);
    return this.#fenced;
  }
}

/** The error for a commit that violates the contract of a log. */
function refusedCommit(error: EngineError, { archives = [], entries }: Commit): LogWriteError | undefined {
  if (error.code === UNIQUE_VIOLATION && error.constraint === 'client_numbers_once') {
    const origin = entries.find(({ origin }) => origin && error.detail?.includes(`, ${origin.clientSeq})`))?.origin;
    return origin
      ? duplicateOrigin(origin, { cause: error })
      : new LogWriteError('duplicate-origin', error.message, { cause: error });
  }
  if (error.code !== REFUSED.turnHole) return undefined;
  try {
    for (const archive of archives) checkTurnStart(archive, Number(error.detail));
  } catch (hole) {
    if (hole instanceof LogWriteError) return hole;
  }
  return new LogWriteError('invalid-archive', error.message, { cause: error });
}

function codeOf({ cause }: LogWriteError): string | undefined {
  return cause instanceof EngineError ? cause.code : undefined;
}
