/**
 * The finished turns of a session. The newest are in memory as part of the state; all are in the log, as the very text
 * that goes to clients. A session of 10,000 turns costs no more to keep open than one of 50.
 */
import type { SessionState, Turn } from '@atrium/protocol';
import { TURNS_IN_MEMORY } from '../limits.js';
import type { Archive, Log, TurnRange } from '../log/log.js';
import { nextSlice, parseInSlices } from '../util/slices.js';
import { LazyList, RawJson } from '../wire/json-parts.js';

/** Stored turns are read in pages of about this size. One turn is read at once, however large it is. */
export const TURN_PAGE_BYTES = 256 * 2 ** 10;

/** Pages that are remembered for others who are sent the same. */
const SHARED_PAGES_MAX = 16;

interface SharedPage {
  readonly start: number;
  readonly takesText: boolean;
  reading: Promise<readonly ListedTurn[]> | undefined;
  /** Once read, they stay in memory only as long as they are being sent to somebody. */
  turns: WeakRef<readonly ListedTurn[]> | undefined;
}

/** Turns of a frozen list: as they are stored, or as values. */
export type ListedTurn = RawJson | Turn;

/** Begins when turns were last brought back into memory, and ends when others are: the log may lose those then. */
interface Era {
  next?: { readonly index: number; readonly turns: readonly Turn[]; readonly era: Era };
}

export class TurnPages {
  /** How many finished turns are only in the log: the state's first turn has this index. */
  #base: number;
  /** How many finished turns the log has. */
  #archived: number;
  #era: Era = {};
  #isClosed = false;
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

  total(state: SessionState): number {
    return this.#base + state.turns.length;
  }

  /**
   * Turns by index, oldest first, as they are now: what happens to the session later does not change them. Those that
   * only the log has are read while the list is written.
   */
  list(
    state: SessionState,
    range: TurnRange,
    { takesText }: { readonly takesText: boolean },
  ): LazyList<ListedTurn> | Turn[] {
    const base = this.#base;
    const recent = state.turns.slice(Math.max(0, range.start - base), Math.max(0, range.end - base));
    if (range.start >= base) return recent;
    const stored = { start: range.start, end: Math.min(range.end, base) };
    const era = this.#era;
    return new LazyList(() => this.#pages({ stored, recent, era, takesText }));
  }

  async *#pages(list: FrozenTurns): AsyncGenerator<readonly ListedTurn[], void, undefined> {
    const { stored, recent, takesText } = list;
    const past = new Past(list.era, stored.end);
    let at = stored.start;
    while (at < past.end()) {
      await nextSlice();
      if (this.#isClosed) throw new Error(`${this.channel} was closed while its turns were being sent`);
      const page = await this.#page({ start: at, end: past.end() }, takesText);
      // Some may have been brought back, and cut off, while they were being read.
      const valid = page.slice(0, Math.max(0, past.end() - at));
      at += valid.length;
      yield valid;
    }
    yield past.turnsFrom(at);
    yield recent;
  }

  /** The first turns of a range. Those who are sent the same at about the same time share what is read. */
  async #page(range: TurnRange, takesText: boolean): Promise<readonly ListedTurn[]> {
    const isSame = (page: SharedPage) => page.start === range.start && page.takesText === takesText;
    const known = this.#shared.find(isSame);
    const shared = known?.reading ?? known?.turns?.deref();
    if (shared) return shared;
    const reading = this.#read(range, takesText);
    const page: SharedPage = { start: range.start, takesText, reading, turns: undefined };
    this.#shared = [page, ...this.#shared.filter((other) => !isSame(other)).slice(0, SHARED_PAGES_MAX - 1)];
    try {
      const turns = await reading;
      page.turns = new WeakRef(turns);
      return turns;
    } finally {
      page.reading = undefined;
    }
  }

  async #read({ start, end }: TurnRange, takesText: boolean): Promise<readonly ListedTurn[]> {
    const stored = await this.log.archivedTurns(this.channel, { start, end, maxBytes: TURN_PAGE_BYTES });
    if (stored.length === 0) throw new Error(`turn ${start} of ${this.channel} is missing in the log`);
    const texts = stored.map(({ json }) => json);
    return takesText ? texts.map((text) => new RawJson(text)) : parsedTurns(texts);
  }

  /** The archive of a state: its head, and the turns that the log does not have yet. */
  archive(state: SessionState, seq: number): Archive {
    const start = Math.min(this.#archived, this.total(state));
    const items = state.turns.slice(start - this.#base).map((turn) => ({ id: turn.id, json: JSON.stringify(turn) }));
    return { channel: this.channel, seq, head: headText(state), turns: { start, items } };
  }

  /** The archive of this state has been stored. */
  archivedUpTo(state: SessionState): void {
    this.#archived = this.total(state);
  }

  /** How many of the state's turns may leave memory: they are in the log, and nobody is likely to ask for them. */
  surplus(state: SessionState): number {
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

  /** The session leaves memory: from now on nobody knows here what happens to its turns. */
  close(): void {
    this.#isClosed = true;
  }

  /** Where a turn is, counting from the oldest; undefined when there is none of that id. */
  async indexOf(state: SessionState, turnId: string): Promise<number | undefined> {
    const inMemory = state.turns.findIndex((turn) => turn.id === turnId);
    if (inMemory >= 0) return this.#base + inMemory;
    const index = await this.log.findTurn(this.channel, turnId);
    return index !== undefined && index < this.#base ? index : undefined;
  }

  /** Turns by index, oldest first, all of them in memory. */
  async slice(state: SessionState, start: number, end: number): Promise<Turn[]> {
    const list = this.list(state, { start, end }, { takesText: false });
    if (Array.isArray(list)) return list;
    const turns: Turn[] = [];
    for (const pages = list.pages(); ; ) {
      const { done, value } = await pages.next();
      if (done) return turns;
      for (const turn of value) turns.push(turn as Turn);
    }
  }
}

interface FrozenTurns {
  readonly stored: TurnRange;
  readonly recent: readonly Turn[];
  readonly era: Era;
  readonly takesText: boolean;
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
  for (const text of texts) turns.push((await parseInSlices(text)) as Turn);
  return turns;
}

/** A state without its finished turns, as JSON. */
export function headText(state: SessionState): string {
  return JSON.stringify({ ...state, turns: [] });
}
