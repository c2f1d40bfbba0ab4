/**
 * The finished turns of an open session, between memory and log: shown in snapshots and pages, archived when a turn ends,
 * brought back when history is cut far behind. The one place where turns enter or leave the state without an action.
 */
import {
  ErrorCode,
  type FetchTurnsParams,
  type FetchTurnsResult,
  type SessionState,
  type Turn,
} from '@atrium/protocol';
import type { Channel } from '../channels/channel.js';
import type { ChannelSnapshot, HostCore, SnapshotRequest } from '../contracts/host-core.js';
import { RequestError } from '../contracts/request-error.js';
import { FETCH_TURNS_DEFAULT, FETCH_TURNS_MAX } from '../limits.js';
import type { LazyList } from '../wire/json-parts.js';
import type { ListedTurn, TurnPages } from './turn-pages.js';

interface HistoryParts {
  readonly core: HostCore;
  readonly channel: Channel<SessionState>;
  readonly pages: TurnPages;
}

/** Turns that only the log has are read while the page is written. */
export interface TurnsPage extends Omit<FetchTurnsResult, 'turns'> {
  readonly turns: LazyList<ListedTurn> | readonly Turn[];
  readonly startTurn: number;
  readonly totalTurns: number;
}

export class History {
  readonly #core: HostCore;
  readonly #channel: Channel<SessionState>;
  readonly #pages: TurnPages;

  constructor({ core, channel, pages }: HistoryParts) {
    this.#core = core;
    this.#channel = channel;
    this.#pages = pages;
  }

  takeSnapshot({ window, takesText }: SnapshotRequest): ChannelSnapshot {
    const state = this.#channel.committed;
    const total = this.#pages.total(state);
    const start = window ? Math.max(0, total - window.last) : 0;
    const turns = this.#pages.list(state, { start, end: total }, { takesText });
    const { uri: resource } = this.#channel;
    const snapshot = { resource, state: { ...state, turns }, fromSeq: this.#core.writer.committedSeq };
    return { snapshot, turns: { start, total } };
  }

  /** Whether a finished turn has this id. */
  async has(turnId: string): Promise<boolean> {
    return (await this.#pages.indexOf(this.#channel.live, turnId)) !== undefined;
  }

  /** A page of finished turns: before a turn, or by index for those who count from the oldest. */
  async fetch(params: FetchTurnsParams, takesText: boolean): Promise<TurnsPage> {
    const { start, end } = rangeOf(params) ?? (await this.#pageBefore(params));
    const state = this.#channel.committed;
    const total = this.#pages.total(state);
    const turns = this.#pages.list(state, { start, end: Math.min(end, total) }, { takesText });
    return { turns, hasMore: start > 0, startTurn: start, totalTurns: total };
  }

  async #pageBefore({ before, limit }: FetchTurnsParams): Promise<{ start: number; end: number }> {
    const state = this.#channel.committed;
    const end = before === undefined ? this.#pages.total(state) : await this.#pages.indexOf(state, before);
    if (end === undefined) throw new RequestError(ErrorCode.InvalidParams, `/before: there is no turn ${before}`);
    const size = Math.max(0, Math.min(Math.trunc(limit ?? FETCH_TURNS_DEFAULT), FETCH_TURNS_MAX));
    return { start: Math.max(0, end - size), end };
  }

  /** Brings turns into memory that only the log has, so that cutting them off is a step of the state like any other. */
  async reach(turnId: string | undefined): Promise<void> {
    const index = turnId === undefined ? 0 : await this.#pages.indexOf(this.#channel.live, turnId);
    while (index !== undefined && index < this.#pages.base) {
      const { base } = this.#pages;
      const older = await this.#pages.slice(this.#channel.committed, index, base);
      const isCurrent = this.#pages.base === base;
      const withOlder = (state: SessionState) => ({ ...state, turns: [...older, ...state.turns] });
      if (isCurrent && this.#channel.replace(withOlder)) this.#pages.broughtBack(older);
      else await this.#core.writer.settled();
    }
  }

  /** Stores the state as it is at the end of this tick, so that opening it later needs no replay. */
  archive(): void {
    const { writer } = this.#core;
    writer.archive(this.#channel.uri, () => this.#pages.archive(this.#channel.live, writer.assignedSeq));
    writer.afterCommit(() => {
      this.#pages.archivedUpTo(this.#channel.committed);
      this.#slim();
    });
  }

  /** Old turns leave memory once they are stored. */
  #slim(): void {
    const surplus = this.#pages.surplus(this.#channel.live);
    if (surplus === 0) return;
    const slimmer = (state: SessionState) => ({ ...state, turns: state.turns.slice(surplus) });
    if (this.#channel.replace(slimmer)) this.#pages.left(surplus);
  }
}

function rangeOf(params: FetchTurnsParams): { start: number; end: number } | undefined {
  const { range } = params as { range?: { start?: unknown; end?: unknown } };
  if (typeof range?.start !== 'number') return undefined;
  const start = Math.max(0, Math.trunc(range.start));
  const end = typeof range.end === 'number' ? Math.trunc(range.end) : Number.MAX_SAFE_INTEGER;
  return { start, end: Math.min(Math.max(start, end), start + FETCH_TURNS_MAX) };
}
