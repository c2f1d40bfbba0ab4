/**
 * The finished turns of a chat. The newest are in memory as part of the state; all are in the log, as the text that
 * goes to clients. Keeping a chat with 10,000 turns open costs no more than one with 50.
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

/**
 * Copies the first turns of a channel to another one that has none, in pieces, so that other sessions can go on
 * meanwhile.
 */
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

/** The finished turns that a client wants: those before a turn, or by index, as wires below 0.5.1 ask for them. */
export interface TurnsRequest {
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
  readonly range?: { readonly start?: unknown; readonly end?: unknown } | undefined;
}

/** A page of turns. Those that only the log has are read while the page is written. */
export interface TurnsPage {
  readonly turns: LazyList<ListedTurn> | readonly Turn[];
  readonly hasMore: boolean;
  readonly startTurn: number;
  readonly totalTurns: number;
}

/**
 * The finished turns of an open chat, between memory and log: shown in snapshots and pages, archived when a turn ends,
 * loaded again when history is cut far back. Only here do turns enter or leave the state without an action.
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
    // Each client has its own cursor; restored turns may have left one in the state.
    const { turnsNextCursor: _, ...state } = this.#channel.committed;
    const total = this.#pages.total(state);
    const start = window ? Math.max(0, total - window.last) : 0;
    // A longer text may hold an input that clients get by reference, so their dialect must see it.
    const textMaxCharacters = sendsStoredJson ? this.#inputs.inlineMaxCharacters : 0;
    const turns = this.#pages.list(state, { start, end: total }, { textMaxCharacters });
    const { uri: resource } = this.#channel;
    const cursor = start > 0 && { turnsNextCursor: String(start) };
    const snapshot = { resource, state: { ...state, turns, ...cursor }, fromSeq: this.#writer.shown };
    return { snapshot, turns: { start, total } };
  }

  /** True when a finished turn has this id. */
  async has(turnId: string): Promise<boolean> {
    return (await this.#pages.indexOf(this.#channel.live, turnId)) !== undefined;
  }

  /** A page of finished turns: those before a turn, or by index, counted from the oldest. */
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
   * The page of finished turns before an index. If history is cut while the page is read, it starts over and asks for
   * the index again: after the cut, no client may get a turn that the cut removed.
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

  /** Loads turns that only the log has, so that cutting them off is an ordinary step of the state. */
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

  /** Archives the state at the end of this tick, so that opening the chat later needs no replay. */
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

  /** Looks at every step: it may cut turns off, and others may take their place before the next archive. */
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

  /** Drops old turns from memory once they are stored. */
  #slim(): void {
    const surplus = this.#pages.surplus(this.#channel.live);
    if (surplus === 0) return;
    const slimmer = (state: ChatState) => ({ ...state, turns: state.turns.slice(surplus) });
    if (this.#channel.replace(slimmer)) this.#pages.unloaded(surplus);
  }
}

function rangeOf({ range }: TurnsRequest): { start: number; end: number } | undefined {
  if (typeof range?.start !== 'number') return undefined;
  const start = Math.max(0, Math.trunc(range.start));
  const end = typeof range.end === 'number' ? Math.trunc(range.end) : Number.MAX_SAFE_INTEGER;
  return { start, end: Math.min(Math.max(start, end), start + FETCH_TURNS_MAX) };
}

/**
 * Stored turns are read in pages of about this size, and each page is sent in one part. A single turn is always read
 * whole, however large it is.
 */
const TURN_PAGE_BYTES = 256 * 2 ** 10;

/** Pages that are kept for other clients that are sent the same. */
const SHARED_PAGES_MAX = 16;

/** Turns that are read together. */
interface TurnPage {
  readonly turns: readonly ListedTurn[];
  /** The index after the last one. */
  readonly end: number;
}

interface SharedPage {
  readonly start: number;
  readonly textMaxCharacters: number;
  reading: Promise<TurnPage> | undefined;
  /** Once it is read, a page stays in memory only while a client is being sent it. */
  page: WeakRef<TurnPage> | undefined;
}

/**
 * One entry of a frozen list: stored turns as text, possibly several with commas between them, or a turn as a value.
 */
export type ListedTurn = RawJson | Turn;

/**
 * The time between two moments at which turns were loaded back into memory. The log may lose those turns after the era
 * ends.
 */
interface ReloadPeriod {
  next?: { readonly index: number; readonly turns: readonly Turn[]; readonly period: ReloadPeriod };
}

export class TurnPages {
  /** How many finished turns are only in the log: the state's first turn has this index. */
  #base: number;
  /** How many finished turns the log has in their present form, or will have with the archive that is being stored. */
  #archived: number;
  #period: ReloadPeriod = {};
  #isClosed = false;
  #isGone = false;
  /** The pages that were read last. */
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
   * Turns by index, oldest first, frozen: later changes of the session do not affect the list. Turns that only the log
   * has are read while the list is written; up to a length, they are listed as stored text.
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
    const period = this.#period;
    return new LazyList(() => this.#pages({ stored, recent, period, textMaxCharacters }));
  }

  async *#pages(list: FrozenTurns): AsyncGenerator<readonly ListedTurn[], void, undefined> {
    const { stored, recent, textMaxCharacters } = list;
    const past = new Past(list.period, stored.end);
    let at = stored.start;
    while (at < past.end()) {
      await nextSlice();
      const end = past.end();
      // Meanwhile all that is left was loaded back.
      if (at >= end) break;
      const page = await this.#pageUnlessGone({ start: at, end }, textMaxCharacters);
      if (!page) return;
      // Some of these turns were loaded back while they were being read, and may have been cut off.
      if (page.end > past.end()) continue;
      at = page.end;
      yield page.turns;
    }
    yield past.turnsFrom(at);
    yield recent;
  }

  /** A page; undefined when the chat is gone, because the log may lose its turns even while they are being read. */
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

  /** The first turns of a range. Clients that are sent the same turns at about the same time share one read. */
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

  /** The archive of a state: its head, and the turns that the log lacks. */
  archiveOf(state: ChatState): NewArchive {
    const start = Math.min(this.#archived, this.total(state));
    this.#archived = this.total(state);
    const items = state.turns.slice(start - this.#base).map((turn) => ({ id: turn.id, json: JSON.stringify(turn) }));
    return { channel: this.channel, head: headText(state), turns: { start, items } };
  }

  /** Notes that from this index on the log lacks the turns of the state; the next archive stores them. */
  cutTo(index: number): void {
    this.#archived = Math.min(this.#archived, index);
  }

  /** How many of the state's turns may leave memory: they are in the log, and clients rarely ask for them. */
  surplus(state: ChatState): number {
    const stored = this.#archived - this.#base;
    return state.turns.length > 2 * TURNS_IN_MEMORY ? Math.min(stored, state.turns.length - TURNS_IN_MEMORY) : 0;
  }

  /** Notes that the state's first turns have left memory. */
  unloaded(count: number): void {
    this.#base += count;
  }

  /** Notes that these turns, which only the log had, are now the first of the state. */
  broughtBack(turns: readonly Turn[]): void {
    this.#base -= turns.length;
    const period: ReloadPeriod = {};
    this.#period.next = { index: this.#base, turns, period };
    this.#period = period;
    this.#shared = [];
  }

  /**
   * Called when the chat is disposed and its turns leave the log. A list that is being sent ends where it is: closing
   * the connection would end the client's other sessions, and the session announces right afterwards that the chat is
   * gone.
   */
  gone(): void {
    this.#isGone = true;
  }

  /** Called when the session leaves memory: this object no longer sees what happens to its turns. */
  close(): void {
    this.#isClosed = true;
  }

  /** The index of a turn, counted from the oldest; undefined when no turn has this id. */
  async indexOf(state: ChatState, turnId: string): Promise<number | undefined> {
    const inMemory = state.turns.findIndex((turn) => turn.id === turnId);
    if (inMemory >= 0) return this.#base + inMemory;
    const index = await this.log.findTurn(this.channel, turnId);
    return index !== undefined && index < this.#base ? index : undefined;
  }

  /** Turns by index, oldest first, all loaded into memory. */
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
  readonly period: ReloadPeriod;
  readonly textMaxCharacters: number;
}

/** The turns that were loaded back into memory after a list was frozen: the log may have others in their place. */
class Past {
  #turns: readonly Turn[] = [];

  constructor(
    private period: ReloadPeriod,
    private limit: number,
  ) {}

  /** Up to this index, the log still has the turns that the list means. */
  end(): number {
    for (; this.period.next; this.period = this.period.next.period) {
      const { index, turns } = this.period.next;
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

/** Parses turns that are stored as JSON. Large ones are parsed in slices. */
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
