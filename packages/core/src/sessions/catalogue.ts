/**
 * The list of all sessions, whether in memory or not: announced to clients, and repaired after damage. If the log can
 * read records synchronously, the list keeps only the names of sessions, and reads the rest when it is needed: decision
 * 0130.
 */
import path from 'node:path';
import {
  ACTIVITY_MASK,
  type ChatState,
  type ChatSummary,
  channelKind,
  chatReducer,
  defaultChatUri,
  ROOT_CHANNEL,
  type SessionState,
  SessionStatus,
  type SessionSummary,
  sessionOfDefaultChat,
  sessionReducer,
  type Turn,
} from '@atrium/protocol/ahp-1';
import type { Writer } from '../channels/writer.js';
import type { Watchers } from '../contracts/ports.js';
import {
  jsonText,
  type Log,
  type LogEntry,
  REBUILT_RECORD,
  type RecordsAtHand,
  type StoredRecord,
  salvagedText,
} from '../log/log.js';
import { type Clock, systemClock } from '../util/clock.js';
import { pathOfUri } from '../util/folders.js';
import { shorten } from '../util/text.js';
import { ChatIndex } from './chat-index.js';
import { headText } from './history.js';
import {
  AGE_PATHS,
  type CatalogueEntry,
  FACT_PATHS,
  FactReader,
  ListedSession,
  membersAt,
  READY_END,
  type SessionFacts,
} from './listed-session.js';
import { DAMAGED } from './recovery.js';
import type { SessionRecords } from './session-records.js';
import { chatSummaryOf, summaryOf } from './session-summary.js';

/** A listed session, with the facts by which a search can be narrowed. */
export interface SearchableSession extends Pick<SessionFacts, 'provider' | 'folders' | 'status' | 'isPinned'> {
  readonly uri: string;
}

/** A session, and when it was last modified. */
type Listed = readonly [uri: string, modifiedAt: string];

export interface PageRequest {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Chooses which sessions the page may show; absent: all of them. */
  readonly only?: ((uri: string) => boolean) | undefined;
}

export interface ListPage {
  /** The summaries as a JSON array. */
  readonly text: string;
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** Sorts the most recently modified first. Sessions modified at the same moment keep their order from page to page. */
function byAge([uri, modifiedAt]: Listed, [otherUri, other]: Listed): number {
  if (modifiedAt > other) return -1;
  if (modifiedAt < other) return 1;
  return uri < otherUri ? -1 : 1;
}

/** Encodes where a page ended, so that changes between two pages hide no session that did not change. */
function cursorOf([uri, modifiedAt]: Listed): string {
  return Buffer.from(JSON.stringify([modifiedAt, uri])).toString('base64url');
}

/** Decodes where the previous page ended. */
function endOf(cursor: string): Listed {
  const [modifiedAt, uri] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string, string];
  return [uri, modifiedAt];
}

/** The index of the first entry after another one; the list is sorted. */
function placeBehind(listed: readonly Listed[], end: Listed): number {
  let [low, high] = [0, listed.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (byAge(end, listed[middle] as Listed) < 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** True when a text may be the cursor of a page. */
export function isCursor(text: string): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
  } catch {
    return false;
  }
}

const SESSION = 'session:';
/** Above this number of records, reading all of them is faster than looking them up by key. */
const READ_BY_KEY_MAX = 500;
const OWN_SCHEME = 'ahp-session:';

/** Visits the records under these keys, and possibly others. */
function visitAtLeast(atHand: RecordsAtHand, keys: readonly string[], visit: (record: StoredRecord) => void): void {
  if (keys.length > READ_BY_KEY_MAX) atHand.each(visit);
  else for (const record of atHand.read(keys)) visit(record);
}

function behindColon(uri: string): string {
  return uri.slice(uri.indexOf(':') + 1);
}

function addForeign(foreign: Map<string, Set<string>>, uri: string): void {
  if (uri.startsWith(OWN_SCHEME)) return;
  const rest = behindColon(uri);
  foreign.set(rest, (foreign.get(rest) ?? new Set()).add(uri));
}

export class Catalogue {
  readonly #known = new Map<string, ListedSession>();
  /** Keys of listed sessions of which only the key has been read; undefined until the first session is looked up. */
  #unread: Set<string> | undefined;
  readonly #reader = new FactReader();
  /** Reads records that are still unread; undefined when all are in memory. */
  #atHand: RecordsAtHand | undefined;
  /** Sessions with other schemes than `ahp-session`, by the part after the colon; undefined until one is looked up. */
  #foreign: Map<string, Set<string>> | undefined;
  /** Entries that are not stored yet. */
  readonly #unstored = new Map<string, CatalogueEntry>();
  /** The folders of listed sessions; undefined when they have to be collected again. */
  #folders: ReadonlySet<string> | undefined;
  /** The number of listed sessions. */
  #count = 0;
  /** The sorted list; undefined until a page is asked for. */
  #order: Listed[] | undefined;
  #mending: Promise<void> = Promise.resolve();

  /** The session of each chat. */
  readonly chats: ChatIndex;

  constructor(
    private readonly log: Log,
    private readonly writer: Writer,
    /** Called when a change of a listed session's summary is stored. */
    private readonly changed: (uri: string, changes: SummaryChanges) => void = () => {},
    /** Called when any change of a session is stored, also when it is new, disposed or gone. */
    private readonly touched: (uri: string) => void = () => {},
    /** Called when a session whose record was damaged is listed again. */
    private readonly restored: (summary: SessionSummary) => void = () => {},
    private readonly clock: Clock = systemClock,
  ) {
    this.chats = new ChatIndex(log, writer);
  }

  /**
   * Loads the list. It reads and parses as little as possible, so that a host with thousands of sessions starts as fast
   * as one with a few.
   */
  async load(): Promise<void> {
    await this.chats.load();
    const put = ({ key, value }: StoredRecord) => this.#add(key.slice(SESSION.length), new ListedSession(value));
    this.#atHand = this.log.recordsAtHand?.(SESSION);
    if (!this.#atHand) return this.log.eachRecord(SESSION, put);
    const others = new Set(this.#atHand.keysUnlike(READY_END));
    this.#count = this.#atHand.count() - others.size;
    visitAtLeast(this.#atHand, [...others], (record) => others.has(record.key) && put(record));
  }

  /**
   * Reads the keys. This must happen before the first change of the list: afterwards, the log may for a moment have
   * sessions that the list lacks.
   */
  #unreadKeys(): Set<string> {
    if (!this.#unread) {
      this.#unread = new Set(this.#atHand?.keys());
      for (const uri of this.#known.keys()) this.#unread.delete(SESSION + uri);
    }
    return this.#unread;
  }

  #session(uri: string): ListedSession | undefined {
    const known = this.#known.get(uri);
    if (known || !this.#unreadKeys().delete(SESSION + uri)) return known;
    const unread = new ListedSession();
    this.#known.set(uri, unread);
    return unread;
  }

  /** A session with its record read. */
  #read(uri: string): ListedSession | undefined {
    this.#readSome([uri]);
    return this.#session(uri);
  }

  /** Reads the records of these sessions, if they are still unread. Sessions with a damaged record leave the list. */
  #readSome(uris: readonly string[]): void {
    const atHand = this.#atHand;
    if (!atHand) return;
    const unread = uris.filter((uri) => this.#session(uri)?.isRead === false);
    if (unread.length === 0) return;
    const take = ({ key, value }: StoredRecord) => {
      const known = this.#known.get(key.slice(SESSION.length));
      if (known?.isRead === false) known.read(value);
    };
    const keys = unread.map((uri) => SESSION + uri);
    visitAtLeast(atHand, keys, take);
    for (const uri of unread) if (!this.#session(uri)?.isRead) this.#lost(uri);
  }

  /** Reads all records that are still unread, in file order. Sessions with a damaged record leave the list. */
  #readAll(): void {
    const unread = this.#unread;
    const lost = new Set<string>();
    const visit = (key: string, value?: string) => {
      const uri = key.slice(SESSION.length);
      let known = this.#known.get(uri);
      if (known ? known.isRead : unread?.delete(key) === false) return;
      if (!known) {
        known = new ListedSession();
        this.#known.set(uri, known);
      }
      if (value === undefined) lost.add(uri);
      else known.read(value);
    };
    this.#atHand?.each(({ key, value }) => visit(key, value), visit);
    this.#unread = new Set();
    this.#atHand = undefined;
    for (const [uri, known] of this.#known) if (!known.isRead) lost.add(uri);
    for (const uri of lost) this.#lost(uri);
  }

  /** The facts about one session. */
  #factsOf(uri: string): SessionFacts | undefined {
    const known = this.#session(uri);
    return known?.hasFacts ? known.facts(this.#reader) : this.#read(uri)?.facts(this.#reader);
  }

  /** All listed sessions with their facts, which the log extracts without reading whole records. */
  #listed(): (readonly [uri: string, facts: SessionFacts])[] {
    const completed = this.#complete(
      FACT_PATHS,
      (known) => known.hasFacts,
      (known, found) => known.update(this.#reader.read(membersAt(found))),
    );
    return completed.flatMap((uri) => {
      const facts = this.isListed(uri) ? this.#factsOf(uri) : undefined;
      return facts ? [[uri, facts] as const] : [];
    });
  }

  /** All listed sessions, and when each was last modified. */
  #ages(): Listed[] {
    this.#complete(
      AGE_PATHS,
      (known) => known.modifiedAt(this.#reader) !== undefined,
      (known, [modifiedAt]) => {
        if (typeof modifiedAt === 'string') known.updateAge(modifiedAt);
      },
    );
    const ages: Listed[] = [];
    for (const [uri, known] of this.#known) {
      if (known.disposedAt !== undefined) continue;
      const modifiedAt = known.modifiedAt(this.#reader) ?? this.#factsOf(uri)?.modifiedAt;
      if (modifiedAt !== undefined) ages.push([uri, modifiedAt]);
    }
    return ages;
  }

  /** All stored sessions, after reading the values at these paths for sessions that lack them. */
  #complete(
    paths: readonly string[],
    isKnown: (known: ListedSession) => boolean,
    update: (known: ListedSession, found: readonly unknown[]) => void,
  ): string[] {
    const uris = this.stored();
    const isUntold = (known: ListedSession | undefined): known is ListedSession =>
      known !== undefined && !known.isRead && !isKnown(known);
    if (uris.some((uri) => isUntold(this.#known.get(uri)))) {
      this.#atHand?.glance(paths, (key, found) => {
        const known = this.#known.get(key.slice(SESSION.length));
        if (isUntold(known) && found.length > 0) update(known, found);
      });
    }
    return uris;
  }

  #remember(uri: string, entry: CatalogueEntry): void {
    const before = this.#session(uri);
    const known = new ListedSession(JSON.stringify(entry));
    const isElsewhere = this.#factsOf(uri)?.folders.join('\0') !== known.facts(this.#reader).folders.join('\0');
    if (isElsewhere || before?.disposedAt !== known.disposedAt) this.#folders = undefined;
    this.#put(uri, known);
  }

  #put(uri: string, known: ListedSession): void {
    this.#take(uri);
    this.#add(uri, known);
  }

  #add(uri: string, known: ListedSession): void {
    this.#known.set(uri, known);
    if (known.disposedAt === undefined) {
      this.#count += 1;
      const modifiedAt = this.#order && known.modifiedAt(this.#reader);
      if (this.#order && modifiedAt !== undefined) {
        const listed: Listed = [uri, modifiedAt];
        this.#order.splice(placeBehind(this.#order, listed), 0, listed);
      }
    }
    if (this.#foreign) addForeign(this.#foreign, uri);
  }

  /** Takes a session off the list and out of the order. */
  #take(uri: string): void {
    const known = this.#session(uri);
    if (!known || known.disposedAt !== undefined) return;
    this.#count -= 1;
    const modifiedAt = this.#order && known.modifiedAt(this.#reader);
    if (this.#order && modifiedAt !== undefined) {
      this.#order.splice(placeBehind(this.#order, [uri, modifiedAt]) - 1, 1);
    }
  }

  #forget(uri: string): void {
    this.#take(uri);
    this.#known.delete(uri);
    this.#foreign?.get(behindColon(uri))?.delete(uri);
    this.#folders = undefined;
  }

  /**
   * Handles a damaged record: a new one is made from the session's archive. Without an archive, the next start tries
   * with its turns.
   */
  #lost(uri: string): void {
    this.#forget(uri);
    // If this fails, too, the next start tries again.
    this.#mending = Promise.allSettled([this.#mending, this.#repair(uri)]).then(() => {});
  }

  async #repair(uri: string): Promise<void> {
    if (!(await this.log.archiveHead(uri))) return;
    const entry = await entryFrom({ log: this.log, clock: this.clock }, uri);
    if (this.has(uri) || this.#unstored.has(uri)) return;
    this.set(uri, entry);
    await this.writer.settled();
    this.restored(entry.summary);
  }

  /** Like `find`, for callers that can wait until a damaged record is restored. */
  async restoredEntry(uri: string): Promise<CatalogueEntry | undefined> {
    const entry = this.find(uri);
    if (entry) return entry;
    await this.#mending;
    return this.find(uri);
  }

  /** The provider of a session, disposed or not. */
  providerOf(uri: string): string | undefined {
    return this.#factsOf(uri)?.provider;
  }

  /**
   * The only session whose URI ends in this after the colon, if its scheme is not `ahp-session`; otherwise undefined.
   */
  namesakeOf(rest: string): string | undefined {
    if (!this.#foreign) {
      this.#foreign = new Map();
      for (const uri of this.stored()) addForeign(this.#foreign, uri);
    }
    const [only, ...others] = this.#foreign.get(rest) ?? [];
    return others.length === 0 ? only : undefined;
  }

  /** True when a session is stored, also when it is disposed. */
  has(uri: string): boolean {
    return this.#session(uri) !== undefined;
  }

  find(uri: string): CatalogueEntry | undefined {
    return this.#read(uri)?.entry();
  }

  /** The newest entry of a session, stored or not. */
  current(uri: string): CatalogueEntry | undefined {
    return this.#unstored.get(uri) ?? this.find(uri);
  }

  isListed(uri: string): boolean {
    const known = this.#session(uri);
    return known !== undefined && known.disposedAt === undefined;
  }

  /** One page of the summaries of listed sessions as a JSON array, most recently modified first. */
  page({ limit, cursor, only }: PageRequest = {}): ListPage {
    // One reading tells a whole list both its order and its content.
    if (!this.#order && limit === undefined && !only) this.#readAll();
    const all = this.#newestFirst();
    const listed = only ? all.filter(([uri]) => only(uri)) : all;
    const start = cursor === undefined ? 0 : placeBehind(listed, endOf(cursor));
    const shown = listed.slice(start, limit === undefined ? undefined : start + limit);
    const last = start + shown.length < listed.length ? shown.at(-1) : undefined;
    this.#readSome(shown.map(([uri]) => uri));
    const texts: string[] = [];
    for (const [uri] of shown) {
      const known = this.#session(uri);
      if (known) texts.push(known.summaryText);
    }
    const text = `[${texts.join(',')}]`;
    return { text, ...(last && { nextCursor: cursorOf(last) }) };
  }

  /** The sorted list. Only the first caller waits for sorting; afterwards, a change moves one entry. */
  #newestFirst(): readonly Listed[] {
    this.#order ??= this.#ages().sort(byAge);
    return this.#order;
  }

  /** The folders of listed sessions as paths, the most recently used first. */
  folders(): string[] {
    this.#listed();
    const homes = this.#newestFirst().flatMap(([uri]) => this.#factsOf(uri)?.home ?? []);
    return [...new Set(homes)].flatMap((uri) => pathOfUri(uri) ?? []);
  }

  /** All stored sessions, including disposed ones. */
  stored(): string[] {
    const unread = this.#unreadKeys();
    for (const key of unread) this.#known.set(key.slice(SESSION.length), new ListedSession());
    unread.clear();
    return [...this.#known.keys()];
  }

  /** The listed session that changed last among those that people started in a folder, which is given as a URI. */
  newestIn(folder: string): string | undefined {
    this.#listed();
    return this.#newestFirst().find(([uri]) => {
      const { home, isOfPerson } = this.#factsOf(uri) ?? {};
      return isOfPerson && home === folder;
    })?.[0];
  }

  /** All listed sessions, with the facts by which a search can be narrowed. */
  *searchable(): Generator<SearchableSession, void, undefined> {
    for (const [uri, facts] of this.#listed()) yield { uri, ...facts };
  }

  /** The folders in which listed sessions work. Returns the same object until they change. */
  workingFolders(): ReadonlySet<string> {
    this.#folders ??= new Set(
      this.#listed().flatMap(([, { folders }]) => folders.map((folder) => path.resolve(folder))),
    );
    return this.#folders;
  }

  get count(): number {
    return this.#count;
  }

  /** Disposed sessions, and when they were disposed. */
  disposed(): { uri: string; at: number }[] {
    return [...this.#known].flatMap(([uri, { disposedAt: at }]) => (at === undefined ? [] : { uri, at }));
  }

  /** Stores the entry of a session with the actions of this tick. The list shows it once it is stored. */
  set(uri: string, entry: CatalogueEntry): void {
    this.#unreadKeys();
    this.writer.record({ key: SESSION + uri, value: jsonText(entry) });
    const isFirst = !this.#unstored.has(uri);
    this.#unstored.set(uri, entry);
    if (!isFirst) return;
    this.writer.afterCommit(() => this.#stored(uri));
    this.writer.afterFailure(() => this.#unstored.delete(uri));
  }

  #stored(uri: string): void {
    const entry = this.#unstored.get(uri);
    if (!entry) return;
    this.#unstored.delete(uri);
    const before = this.find(uri);
    this.#remember(uri, entry);
    this.touched(uri);
    if (!before || before.disposedAt !== undefined || entry.disposedAt !== undefined) return;
    const changes = summaryChanges(before.summary, entry.summary);
    if (changes) this.changed(uri, changes);
  }

  remove(uri: string): void {
    this.#unreadKeys();
    this.writer.record({ key: SESSION + uri, value: null });
    this.writer.afterCommit(() => {
      this.#forget(uri);
      this.touched(uri);
    });
  }
}

/** Tells the clients that show a list of sessions which ones came and went, and how many there are. */
export class ListNews {
  constructor(
    private readonly options: {
      readonly watchers: Watchers;
      readonly root: { setActiveSessions(count: number): void };
      readonly catalogue: Catalogue;
    },
  ) {}

  added(summary: SessionSummary): void {
    this.#notify('root/sessionAdded', { summary });
  }

  removed(session: string): void {
    this.#notify('root/sessionRemoved', { session });
  }

  #notify(method: string, params: object): void {
    const { watchers, root, catalogue } = this.options;
    watchers.notify(ROOT_CHANNEL, method, params);
    root.setActiveSessions(catalogue.count);
  }
}

export type SummaryChanges = Record<string, unknown>;

/** Members that never change. */
const IDENTITY: ReadonlySet<string> = new Set(['resource', 'provider', 'createdAt']);

/** The difference between two summaries, with `null` for a removed member; undefined when they are equal. */
export function summaryChanges(before: SessionSummary, after: SessionSummary): SummaryChanges | undefined {
  if (before === after) return undefined;
  const keys = new Set([...Object.keys(before), ...Object.keys(after)] as (keyof SessionSummary)[]);
  const changed = [...keys].filter((key) => !IDENTITY.has(key) && !isSame(before[key], after[key]));
  return changed.length ? Object.fromEntries(changed.map((key) => [key, after[key] ?? null])) : undefined;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/**
 * Restores the list of sessions after the log was damaged. Every session is known in three places, which lie on
 * different pages of the file: the list, its archive, its turns. What one of them lost is restored from the others.
 */
export interface ListRecoveryOptions {
  readonly log: Log;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  readonly records: SessionRecords;
}

/** The agent of a session of which only turns are left. No agent has this name, so none takes over the session. */
export const UNKNOWN_PROVIDER = 'unknown';

const TITLE_CHARACTERS = 80;
const ALL_TURNS = { start: 0, end: Number.MAX_SAFE_INTEGER };
/**
 * Actions that end a turn. An archive is written at the end of a turn, so it never includes what follows the last end.
 */
const ENDS: ReadonlySet<string> = new Set(['chat/turnComplete', 'chat/turnCancelled', 'chat/error', 'chat/truncated']);

/** Describes what was restored; undefined when the log was not rebuilt. */
export async function recoverList(options: ListRecoveryOptions): Promise<string | undefined> {
  const { log, writer, catalogue, records } = options;
  const salvaged = await log.record(REBUILT_RECORD);
  if (salvaged === undefined) return undefined;
  const unfinished = new Set((await records.unfinished()).map(({ uri }) => uri));
  const channels = (await log.channels()).flatMap((uri) =>
    channelKind(uri) === 'session' ? uri : (sessionOfDefaultChat(uri) ?? []),
  );
  const stored = [...new Set(channels)].filter((uri) => !unfinished.has(uri));
  const lost = stored.filter((uri) => catalogue.find(uri) === undefined);
  for (const uri of lost) catalogue.set(uri, await entryFrom(options, uri));
  for (const uri of [...catalogue.stored(), ...lost]) await restoreArchives(options, uri);
  // Synced to disk, together with the list. Until then, the next start restores it again.
  writer.record({ key: REBUILT_RECORD, value: null }, 'full');
  await writer.settled();
  const list = `the list of sessions was rebuilt: it has ${catalogue.count}, and ${lost.length} of them were missing`;
  // Only a record was damaged, so there are no counts.
  return salvaged === '{}' ? list : `${list}; ${salvagedText(salvaged)}`;
}

/** Makes an entry for a session that the list lost: from its archive, or as far as its turns tell. */
async function entryFrom(
  { log, clock }: Pick<ListRecoveryOptions, 'log' | 'clock'>,
  uri: string,
): Promise<CatalogueEntry> {
  const now = new Date(clock.now()).toISOString();
  const facts = { resource: uri, createdAt: now, modifiedAt: now };
  const archive = await log.archiveHead(uri);
  const head = archive && !archive.isDamaged ? (JSON.parse(archive.head) as Partial<SessionState>) : {};
  if (head.provider !== undefined && head.lifecycle) {
    return { summary: summaryOf(head as SessionState, [], facts), lifecycle: head.lifecycle };
  }
  const [first] = await log.archivedTurns(defaultChatUri(uri), { start: 0, end: 1 });
  const lastMessage = first && (JSON.parse(first.json) as Partial<Turn>).message?.text;
  const title = lastMessage ? shorten(lastMessage, TITLE_CHARACTERS) : 'Recovered session';
  return { summary: { ...facts, provider: UNKNOWN_PROVIDER, title, status: SessionStatus.Idle }, lifecycle: 'ready' };
}

/** Restores a lost archive of a listed session, from the list, its turns, and later actions. */
async function restoreArchives(options: ListRecoveryOptions, uri: string): Promise<void> {
  const { log, writer, catalogue } = options;
  const entry = catalogue.current(uri);
  if (!entry) return;
  for (const { resource } of entry.summary.chats ?? []) {
    if (catalogue.chats.sessionUriOf(resource) === undefined) catalogue.chats.set(resource, uri);
  }
  const others = await restoredOthers(options, uri);
  const chat = await restoredChat(options, firstChat(uri, entry.summary.modifiedAt));
  for (const restored of [chat, ...others]) {
    if (restored) writer.storeArchive(restored.state.resource, () => restored.archive);
  }
  if (!(await log.archiveHead(uri))) {
    const entries = (await log.read({ after: 0, channel: uri })).filter(({ isDamaged }) => !isDamaged);
    const listed = stateOf(entry);
    const known = chat ? { ...listed, chats: [chatSummaryOf(chat.state), ...listed.chats.slice(1)] } : listed;
    const state = entries.reduce((current, { action }) => sessionReducer(current, JSON.parse(action)), known);
    writer.storeArchive(uri, () => ({ channel: uri, head: JSON.stringify(state), turns: { start: 0, items: [] } }));
  }
  if (chat && chat.archive.turns.items.length > 0) {
    catalogue.set(uri, { ...entry, summary: { ...entry.summary, modifiedAt: chat.state.modifiedAt } });
  }
}

/** The further chats of a session whose archives are lost. */
async function restoredOthers(options: ListRecoveryOptions, session: string) {
  const entry = options.catalogue.current(session);
  const listed = entry ? stateOf(entry).chats.slice(1) : [];
  const restored = [];
  for (const summary of listed) restored.push(await restoredChat(options, listedChat(summary)));
  return restored;
}

async function restoredChat({ log, clock }: ListRecoveryOptions, first: ChatState) {
  const { resource: uri } = first;
  if (await log.archiveHead(uri)) return undefined;
  const { length: start } = await log.archivedTurns(uri, ALL_TURNS);
  const entries = await log.read({ after: 0, channel: uri });
  const end = entries.findLastIndex(
    ({ action }) => action !== '' && ENDS.has((JSON.parse(action) as { type: string }).type),
  );
  const state = chatAfter(first, entries.slice(end + 1), clock.now());
  const items = state.turns.map((turn) => ({ id: turn.id, json: JSON.stringify(turn) }));
  return { state, archive: { channel: uri, head: headText(state), turns: { start, items } } };
}

/**
 * The chat after its undamaged entries. If damage took part of the running turn, the turn ends with an error that says
 * so.
 */
function chatAfter(head: ChatState, entries: readonly LogEntry[], now: number): ChatState {
  const whole = entries.filter(({ isDamaged }) => !isDamaged);
  const state = whole.reduce((current, { action }) => chatReducer(current, JSON.parse(action)), head);
  const { activeTurn } = state;
  if (whole.length === entries.length || !activeTurn) return state;
  const duration = Math.max(0, now - Date.parse(activeTurn.startedAt));
  const part = { kind: 'error' as const, error: DAMAGED };
  return chatReducer(state, { type: 'chat/error', turnId: activeTurn.id, duration, part });
}

/** The state of a session, as far as the list knows it. */
export function stateOf({ summary, lifecycle }: CatalogueEntry): SessionState {
  const { resource, createdAt: _created, modifiedAt, changes: _changes, chats = [], status, ...rest } = summary;
  const chat = firstChat(resource, modifiedAt);
  const others = chats.filter((other) => other.resource !== chat.resource);
  return {
    ...rest,
    status: (status & ~ACTIVITY_MASK) | SessionStatus.Idle,
    lifecycle,
    activeClients: [],
    chats: [
      chatSummaryOf(chat),
      ...others.map(({ changes: _sum, ...other }) => ({ modifiedAt, ...other, status: SessionStatus.Idle })),
    ],
    defaultChat: chat.resource,
  };
}

/** The state of a chat, as far as its session lists it. */
export function listedChat(summary: ChatSummary): ChatState {
  return { ...summary, status: SessionStatus.Idle, turns: [] };
}

/** A session's first chat. */
export function firstChat(session: string, modifiedAt: string): ChatState {
  const resource = defaultChatUri(session);
  return { resource, title: '', status: SessionStatus.Idle, modifiedAt, origin: { kind: 'user' }, turns: [] };
}
