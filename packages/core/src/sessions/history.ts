/**
 * The finished turns of a chat. The newest are in memory as part of the state; all are in the log, as the text that goes to
 * clients. A chat of 10,000 turns costs no more to keep open than one of 50.
 */
import { type ChatState, ErrorCode, type Turn } from '@atrium/protocol/ahp-1';
import type { Channel, Step } from '../channels/channel.js';
import type { ChannelSnapshot, SnapshotRequest } from '../channels/open-channel.js';
import type { Writer } from '../channels/writer.js';
import { RequestError } from '../contracts/request-error.js';
import type { Log, NewArchive, TurnRange } from '../log/log.js';
import type { InputReferences } from '../tool-calls/input-references.js';
import { LazyList, RawJson } from '../util/json-parts.js';
import { nextSlice, parseInSlices } from '../util/slices.js';
import { FETCH_TURNS_DEFAULT, FETCH_TURNS_MAX, TURNS_IN_MEMORY } from './limits.js';

/** Turns are copied in pieces of about this size. */
export const COPY_BYTES = 2 * 2 ** 20;

/** Copies the first turns of a channel to another that has none, piece by piece: other sessions go on meanwhile. */
export async function copyHistory(
  log: Log,
  { from, to, end }: { from: string; to: string; end: number },
): Promise<void> {
  for (let start = 0; start < end; ) {
    const copied = await log.copyTurns(from, to, { start, end, maxBytes: COPY_BYTES });
    if (copied === 0) return;
    start += copied;
    await nextSlice();
  }
}

interface HistoryOptions {
  readonly inputs: InputReferences;
  readonly writer: Writer;
  readonly channel: Channel<ChatState>;
  readonly pages: TurnPages;
}

/** Which finished turns a client wants: those before a turn, or by index, as wires below 0.5.1 ask for them. */
export interface TurnsRequest {
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
  readonly range?: { readonly start?: unknown; readonly end?: unknown } | undefined;
}

/** Turns that only the log has are read while the page is written. */
export interface TurnsPage {
  readonly turns: LazyList<ListedTurn> | readonly Turn[];
  readonly hasMore: boolean;
  readonly startTurn: number;
  readonly totalTurns: number;
}

/**
 * The finished turns of an open chat, between memory and log: shown in snapshots and pages, archived when a turn ends,
 * brought back when history is cut far behind. The one place where turns enter or leave the state without an action.
 */
export class History {
  readonly #inputs: InputReferences;
  readonly #writer: Writer;
  readonly #channel: Channel<ChatState>;
  readonly #pages: TurnPages;
  /** How often history was cut, and how many of these cuts are not stored yet. */
  #cuts = 0;
  #unstoredCuts = 0;

  constructor({ inputs, writer, channel, pages }: HistoryOptions) {
    this.#inputs = inputs;
    this.#writer = writer;
    this.#channel = channel;
    this.#pages = pages;
  }

  takeSnapshot({ window, sendsStoredJson }: SnapshotRequest): ChannelSnapshot {
    // How far turns are loaded is a matter of each client; turns that came back may have left a cursor.
    const { turnsNextCursor: _, ...state } = this.#channel.committed;
    const total = this.#pages.total(state);
    const start = window ? Math.max(0, total - window.last) : 0;
    // A longer text may hold an input that clients get by reference, so that their dialect must see it.
    const textMaxCharacters = sendsStoredJson ? this.#inputs.inlineMaxCharacters : 0;
    const turns = this.#pages.list(state, { start, end: total }, { textMaxCharacters });
    const { uri: resource } = this.#channel;
    const cursor = start > 0 && { turnsNextCursor: String(start) };
    const snapshot = { resource, state: { ...state, turns, ...cursor }, fromSeq: this.#writer.shown };
    return { snapshot, turns: { start, total } };
  }

  /** Whether a finished turn has this id. */
  async has(turnId: string): Promise<boolean> {
    return (await this.#pages.indexOf(this.#channel.live, turnId)) !== undefined;
  }

  /** A page of finished turns: before a turn, or by index for those who count from the oldest. */
  async fetch(params: TurnsRequest): Promise<TurnsPage> {
    const { start, end } = rangeOf(params) ?? (await this.#pageBefore(params));
    const state = this.#channel.committed;
    const total = this.#pages.total(state);
    const turns = this.#pages.list(state, { start, end: Math.min(end, total) });
    return { turns, hasMore: start > 0, startTurn: start, totalTurns: total };
  }

  async #pageBefore({ before, limit }: TurnsRequest): Promise<{ start: number; end: number }> {
    const state = this.#channel.committed;
    const end = before === undefined ? this.#pages.total(state) : await this.#pages.indexOf(state, before);
    if (end === undefined) throw new RequestError(ErrorCode.InvalidParams, `/before: there is no turn ${before}`);
    const size = Math.max(0, Math.min(Math.trunc(limit ?? FETCH_TURNS_DEFAULT), FETCH_TURNS_MAX));
    return { start: Math.max(0, end - size), end };
  }

  /**
   * The page of finished turns before an index, which is asked for again when history is cut while the page is read: what
   * a client is told behind the cut has nothing that the cut removed.
   */
  async before(end: () => number): Promise<{ readonly start: number; readonly turns: Turn[] }> {
    for (;;) {
      while (this.#unstoredCuts > 0) await this.#writer.settled();
      const cuts = this.#cuts;
      const { committed } = this.#channel;
      const last = Math.min(end(), this.#pages.total(committed));
      const start = Math.max(0, last - FETCH_TURNS_DEFAULT);
      const turns = await this.#pages.slice(committed, start, last);
      if (this.#cuts === cuts) return { start, turns };
    }
  }

  /** Brings turns into memory that only the log has, so that cutting them off is a step of the state like any other. */
  async reach(turnId: string | undefined): Promise<void> {
    const index = turnId === undefined ? 0 : await this.#pages.indexOf(this.#channel.live, turnId);
    while (index !== undefined && index < this.#pages.base) {
      const { base } = this.#pages;
      const older = await this.#pages.slice(this.#channel.committed, index, base);
      const isCurrent = this.#pages.base === base;
      const withOlder = (state: ChatState) => ({ ...state, turns: [...older, ...state.turns] });
      if (isCurrent && this.#channel.replace(withOlder)) this.#pages.broughtBack(older);
      else await this.#writer.settled();
    }
  }

  /** Stores the state as it is at the end of this tick, so that opening it later needs no replay. */
  storeArchive(): void {
    const writer = this.#writer;
    let start: number | undefined;
    writer.storeArchive(this.#channel.uri, () => {
      const archive = this.#pages.archiveOf(this.#channel.live);
      start = archive.turns.start;
      return archive;
    });
    writer.afterFailure(() => start !== undefined && this.#pages.cutTo(start));
    writer.afterCommit(() => this.#slim());
  }

  /** Looks at every step: turns may have been cut off, and others may take their place before the next archive. */
  observe({ before, after }: Pick<Step<ChatState>, 'before' | 'after'>): void {
    if (before.turns !== after.turns) this.#pages.cutTo(this.#pages.total(after));
    if (after.turns.length < before.turns.length) this.#noteCut();
  }

  #noteCut(): void {
    this.#cuts += 1;
    this.#unstoredCuts += 1;
    const over = () => {
      this.#unstoredCuts -= 1;
    };
    this.#writer.afterCommit(over);
    this.#writer.afterFailure(over);
  }

  /** Old turns leave memory once they are stored. */
  #slim(): void {
    const surplus = this.#pages.surplus(this.#channel.live);
    if (surplus === 0) return;
    const slimmer = (state: ChatState) => ({ ...state, turns: state.turns.slice(surplus) });
    if (this.#channel.replace(slimmer)) this.#pages.left(surplus);
  }
}

function rangeOf({ range }: TurnsRequest): { start: number; end: number } | undefined {
  if (typeof range?.start !== 'number') return undefined;
  const start = Math.max(0, Math.trunc(range.start));
  const end = typeof range.end === 'number' ? Math.trunc(range.end) : Number.MAX_SAFE_INTEGER;
  return { start, end: Math.min(Math.max(start, end), start + FETCH_TURNS_MAX) };
}

/** Stored turns are read in pages of about this size, which go out in one part. One turn is read at once, however large it is. */
const TURN_PAGE_BYTES = 256 * 2 ** 10;

/** Pages that are remembered for others who are sent the same. */
const SHARED_PAGES_MAX = 16;

/** Turns that were read together. */
interface TurnPage {
  readonly turns: readonly ListedTurn[];
  /** The index behind the last of them. */
  readonly end: number;
}

interface SharedPage {
  readonly start: number;
  readonly textMaxCharacters: number;
  reading: Promise<TurnPage> | undefined;
  /** Once read, it stays in memory only while it is being sent to a client. */
  page: WeakRef<TurnPage> | undefined;
}

/** Turns of a frozen list: as they are stored, which may be several with commas between them, or as values. */
export type ListedTurn = RawJson | Turn;

/** Begins when turns were last brought back into memory, and ends when others are: the log may lose those then. */
interface Era {
  next?: { readonly index: number; readonly turns: readonly Turn[]; readonly era: Era };
}

export class TurnPages {
  /** How many finished turns are only in the log: the state's first turn has this index. */
  #base: number;
  /** How many finished turns the log has, as they are in the state, or will have with the archive that is being stored. */
  #archived: number;
  #era: Era = {};
  #isClosed = false;
  #isGone = false;
  /** What was read last. */
  #shared: readonly SharedPage[] = [];

  constructor(
    private readonly log: Log,
    private readonly channel: string,
    counts: { readonly base: number; readonly archived: number },
  ) {
    this.#base = counts.base;
    this.#archived = counts.archived;
  }

  get base(): number {
    return this.#base;
  }

  total(state: ChatState): number {
    return this.#base + state.turns.length;
  }

  /**
   * Turns by index, oldest first, as they are now: what happens to the session later does not change them. Those that
   * only the log has are read while the list is written; up to a length they are listed as the text that is stored.
   */
  list(
    state: ChatState,
    range: TurnRange,
    { textMaxCharacters = 0 }: { readonly textMaxCharacters?: number } = {},
  ): LazyList<ListedTurn> | Turn[] {
    const base = this.#base;
    const recent = state.turns.slice(Math.max(0, range.start - base), Math.max(0, range.end - base));
    if (range.start >= base) return recent;
    const stored = { start: range.start, end: Math.min(range.end, base) };
    const era = this.#era;
    return new LazyList(() => this.#pages({ stored, recent, era, textMaxCharacters }));
  }

  async *#pages(list: FrozenTurns): AsyncGenerator<readonly ListedTurn[], void, undefined> {
    const { stored, recent, textMaxCharacters } = list;
    const past = new Past(list.era, stored.end);
    let at = stored.start;
    while (at < past.end()) {
      await nextSlice();
      const page = await this.#pageUnlessGone({ start: at, end: past.end() }, textMaxCharacters);
      if (!page) return;
      // Some were brought back, and maybe cut off, since they were read.
      if (page.end > past.end()) continue;
      at = page.end;
      yield page.turns;
    }
    yield past.turnsFrom(at);
    yield recent;
  }

  /** Undefined when the chat is gone: the log may have lost its turns, also while they were being read. */
  async #pageUnlessGone(range: TurnRange, textMaxCharacters: number): Promise<TurnPage | undefined> {
    if (this.#isGone) return undefined;
    if (this.#isClosed) throw new Error(`${this.channel} was closed while its turns were being sent`);
    try {
      return await this.#page(range, textMaxCharacters);
    } catch (error) {
      if (this.#isGone) return undefined;
      throw error;
    }
  }

  /** The first turns of a range. Those who are sent the same at about the same time share what is read. */
  async #page(range: TurnRange, textMaxCharacters: number): Promise<TurnPage> {
    const isSame = (page: SharedPage) => page.start === range.start && page.textMaxCharacters === textMaxCharacters;
    const known = this.#shared.find(isSame);
    const found = await (known?.reading ?? known?.page?.deref());
    if (found && found.end <= range.end) return found;
    const reading = this.#read(range, textMaxCharacters);
    const shared: SharedPage = { start: range.start, textMaxCharacters, reading, page: undefined };
    this.#shared = [shared, ...this.#shared.filter((other) => !isSame(other)).slice(0, SHARED_PAGES_MAX - 1)];
    try {
      const page = await reading;
      shared.page = new WeakRef(page);
      return page;
    } finally {
      shared.reading = undefined;
    }
  }

  async #read({ start, end }: TurnRange, textMaxCharacters: number): Promise<TurnPage> {
    const range = { start, end, maxBytes: TURN_PAGE_BYTES };
    if (textMaxCharacters > 0) {
      const turnMaxBytes = Math.min(textMaxCharacters, TURN_PAGE_BYTES);
      const { count, json } = await this.log.archivedTurnsJson(this.channel, { ...range, turnMaxBytes });
      if (count > 0) return { turns: [new RawJson(json)], end: start + count };
      range.end = Math.min(end, start + 1);
    }
    const stored = await this.log.archivedTurns(this.channel, range);
    if (stored.length === 0) throw new Error(`turn ${start} of ${this.channel} is missing in the log`);
    return { turns: await parsedTurns(stored.map(({ json }) => json)), end: start + stored.length };
  }

  /** The archive of a state: its head, and the turns that the log does not have yet. */
  archiveOf(state: ChatState): NewArchive {
    const start = Math.min(this.#archived, this.total(state));
    this.#archived = this.total(state);
    const items = state.turns.slice(start - this.#base).map((turn) => ({ id: turn.id, json: JSON.stringify(turn) }));
    return { channel: this.channel, head: headText(state), turns: { start, items } };
  }

  /** From this index on, the log does not have the turns of the state: they are stored with the next archive. */
  cutTo(index: number): void {
    this.#archived = Math.min(this.#archived, index);
  }

  /** How many of the state's turns may leave memory: they are in the log, and clients rarely ask for them. */
  surplus(state: ChatState): number {
    const stored = this.#archived - this.#base;
    return state.turns.length > 2 * TURNS_IN_MEMORY ? Math.min(stored, state.turns.length - TURNS_IN_MEMORY) : 0;
  }

  /** The first turns of the state have left memory. */
  left(count: number): void {
    this.#base += count;
  }

  /** These turns, which only the log had, are the first of the state now. */
  broughtBack(turns: readonly Turn[]): void {
    this.#base -= turns.length;
    const era: Era = {};
    this.#era.next = { index: this.#base, turns, era };
    this.#era = era;
    this.#shared = [];
  }

  /**
   * The chat was disposed, and its turns leave the log. What is still being sent of it ends where it is: closing the
   * connection would end other sessions of the client, and its session says right behind that the chat is gone.
   */
  gone(): void {
    this.#isGone = true;
  }

  /** The session leaves memory: from now on this object does not see what happens to its turns. */
  close(): void {
    this.#isClosed = true;
  }

  /** Where a turn is, counting from the oldest; undefined when there is none of that id. */
  async indexOf(state: ChatState, turnId: string): Promise<number | undefined> {
    const inMemory = state.turns.findIndex((turn) => turn.id === turnId);
    if (inMemory >= 0) return this.#base + inMemory;
    const index = await this.log.findTurn(this.channel, turnId);
    return index !== undefined && index < this.#base ? index : undefined;
  }

  /** Turns by index, oldest first, all of them in memory. */
  async slice(state: ChatState, start: number, end: number): Promise<Turn[]> {
    const list = this.list(state, { start, end });
    if (Array.isArray(list)) return list;
    const turns: Turn[] = [];
    for (const pages = list.pages(); ; ) {
      const { done, value } = await pages.next();
      if (done && this.#isGone) throw new Error(`${this.channel} was disposed while its turns were being read`);
      if (done) return turns;
      for (const turn of value) turns.push(turn as Turn);
    }
  }
}

interface FrozenTurns {
  readonly stored: TurnRange;
  readonly recent: readonly Turn[];
  readonly era: Era;
  readonly textMaxCharacters: number;
}

/** What was brought back into memory since a list was frozen: the log may have something else in its place. */
class Past {
  #turns: readonly Turn[] = [];

  constructor(
    private era: Era,
    private limit: number,
  ) {}

  /** Up to this index the log still has the turns that the list means. */
  end(): number {
    for (; this.era.next; this.era = this.era.next.era) {
      const { index, turns } = this.era.next;
      if (index >= this.limit) continue;
      this.#turns = [...turns.slice(0, this.limit - index), ...this.#turns];
      this.limit = index;
    }
    return this.limit;
  }

  turnsFrom(index: number): readonly Turn[] {
    return this.#turns.slice(index - this.limit);
  }
}

/** Values of turns that are stored as JSON. Large ones are parsed in slices. */
export async function parsedTurns(texts: readonly string[]): Promise<Turn[]> {
  const turns: Turn[] = [];
  let parsed = 0;
  for (const text of texts) {
    if (parsed >= TURN_PAGE_BYTES) {
      await nextSlice();
      parsed = 0;
    }
    turns.push((await parseInSlices(text)) as Turn);
    parsed += text.length;
  }
  return turns;
}

/** A state without its finished turns, as JSON. */
export function headText(state: ChatState): string {
  return JSON.stringify({ ...state, turns: [] });
}
