/**
 * The finished turns of a session. The newest are in memory as part of the state; all are in the log, as the very text
 * that goes to clients. A session of 10,000 turns costs no more to keep open than one of 50.
 */
import type { SessionState, Turn } from '@atrium/protocol';
import { TURNS_IN_MEMORY } from '../limits.js';
import type { Archive, Log } from '../log/log.js';
import { joinedText } from '../wire/raw-json.js';
import type { TurnWindow } from '../wire/subscriptions.js';

/** Turns that are only in the log, joined by commas. True as long as the state's first turn has index `end`. */
export interface OlderTurns {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export class TurnPages {
  /** How many finished turns are only in the log: the state's first turn has this index. */
  #base: number;
  /** How many finished turns the log has. */
  #archived: number;
  /** The text of all turns before `#base`, kept because every full snapshot begins with it. */
  #olderText: OlderTurns | undefined;
  readonly #encoded = new WeakMap<Turn, string>();

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

  /** The turns of a snapshot that are not in memory, as text. Without `last`, all of them; that text is kept. */
  async older(state: SessionState, last: number | undefined): Promise<OlderTurns> {
    const end = this.#base;
    const start = last === undefined ? 0 : Math.min(end, Math.max(0, this.total(state) - last));
    if (start === end) return { start, end, text: '' };
    if (start === 0 && this.#olderText?.end === end) return this.#olderText;
    const older = { start, end, text: await this.log.archivedTurnsText(this.channel, { start, end }) };
    if (start === 0 && end === this.#base) this.#olderText = older;
    return older;
  }

  /** The turns of a snapshot as text, and which they are. */
  text(state: SessionState, older: OlderTurns, last: number | undefined): { text: string; window: TurnWindow } {
    const total = this.total(state);
    const recent = last === undefined ? state.turns : state.turns.slice(Math.max(0, state.turns.length - last));
    const parts = [older.text, ...recent.map((turn) => this.#json(turn))];
    const start = older.start < older.end ? older.start : total - recent.length;
    return { text: joinedText(parts), window: { start, total } };
  }

  #json(turn: Turn): string {
    const known = this.#encoded.get(turn) ?? JSON.stringify(turn);
    this.#encoded.set(turn, known);
    return known;
  }

  /** The archive of a state: its head, and the turns that the log does not have yet. */
  archive(state: SessionState, seq: number): Archive {
    const start = Math.min(this.#archived, this.total(state));
    const items = state.turns.slice(start - this.#base).map((turn) => ({ id: turn.id, json: this.#json(turn) }));
    return { channel: this.channel, seq, head: headText(state), turns: { start, items } };
  }

  /** The archive of this state has been stored. */
  archivedUpTo(state: SessionState): void {
    this.#archived = this.total(state);
    if (this.#olderText && this.#olderText.end > this.#base) this.#olderText = undefined;
  }

  /** How many of the state's turns may leave memory: they are in the log, and nobody is likely to ask for them. */
  surplus(state: SessionState): number {
    const stored = this.#archived - this.#base;
    return state.turns.length > 2 * TURNS_IN_MEMORY ? Math.min(stored, state.turns.length - TURNS_IN_MEMORY) : 0;
  }

  /** These turns have left memory. */
  left(turns: readonly Turn[]): void {
    const text = turns.map((turn) => this.#json(turn)).join(',');
    if (this.#olderText) {
      const joined = joinedText([this.#olderText.text, text]);
      this.#olderText = { start: 0, end: this.#base + turns.length, text: joined };
    }
    this.#base += turns.length;
  }

  /** Starts the state's turns at another index: what was before is only in the log now. */
  rebase(base: number): void {
    this.#base = base;
    this.#olderText = undefined;
  }

  /** Where a turn is, counting from the oldest; undefined when there is none of that id. */
  async indexOf(state: SessionState, turnId: string): Promise<number | undefined> {
    const inMemory = state.turns.findIndex((turn) => turn.id === turnId);
    if (inMemory >= 0) return this.#base + inMemory;
    const index = await this.log.findTurn(this.channel, turnId);
    return index !== undefined && index < this.#base ? index : undefined;
  }

  /** Turns by index, oldest first. */
  async slice(state: SessionState, start: number, end: number): Promise<Turn[]> {
    const base = this.#base;
    const recent = state.turns.slice(Math.max(0, start - base), Math.max(0, end - base));
    const stored = start < base ? await this.log.archivedTurns(this.channel, { start, end: Math.min(end, base) }) : [];
    return [...stored.map(({ json }) => JSON.parse(json) as Turn), ...recent];
  }
}

/** A state without its finished turns, as JSON. */
export function headText(state: SessionState): string {
  return JSON.stringify({ ...state, turns: [] });
}

/** The snapshot of a state with these turns, as JSON. */
export function snapshotText(
  state: SessionState,
  turns: string,
  { resource, fromSeq }: { resource: string; fromSeq: number },
): string {
  const { turns: _turns, ...head } = state;
  const members = JSON.stringify(head).slice(1, -1);
  return `{"resource":${JSON.stringify(resource)},"state":{${members},"turns":[${turns}]},"fromSeq":${fromSeq}}`;
}
