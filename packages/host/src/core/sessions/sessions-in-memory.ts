/** The sessions that are in memory: brought in when somebody needs them, put away when nobody does. */
import { type SessionState, sessionReducer, type Turn } from '@atrium/protocol';
import { Channel } from '../channels/channel.js';
import type { AgentBackend } from '../contracts/agent.js';
import { TURNS_IN_MEMORY } from '../limits.js';
import { nextSlice, parseInSlices } from '../util/slices.js';
import { headOf } from './list-recovery.js';
import { afterDamage, dropAbsentClient } from './mending.js';
import { Session } from './session.js';
import type { SharedParts } from './session-parts.js';
import { parsedTurns, TURN_PAGE_BYTES, TurnPages } from './turn-pages.js';

/** Entries behind an archive that are replayed in one slice. */
const REPLAY_PAGE_ENTRIES = 1_000;

interface Place {
  /** The index of the first turn in the state. */
  readonly base: number;
  /** How many turns the log has. */
  readonly archived: number;
  readonly lastTime: number;
}

export interface MemoryParts extends SharedParts {
  readonly agents: readonly AgentBackend[];
}

export class SessionsInMemory {
  readonly #parts: MemoryParts;
  readonly #open = new Map<string, Session>();
  readonly #opening = new Map<string, Promise<Session | undefined>>();
  /** Those that have left, as long as their agents are still ending. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  /** The host stops: what is not stored yet must not be opened again without it. */
  #isClosed = false;

  constructor(parts: MemoryParts) {
    this.#parts = parts;
  }

  get all(): ReadonlyMap<string, Session> {
    return this.#open;
  }

  /** The session with this URI; undefined when there is none, or it was disposed. */
  async open(uri: string): Promise<Session | undefined> {
    const present = this.#open.get(uri);
    if (present) return present.isClosed ? undefined : present;
    if (this.#isClosed || !this.#parts.catalogue.isListed(uri)) return undefined;
    const loading = this.#opening.get(uri) ?? this.#load(uri).finally(() => this.#opening.delete(uri));
    this.#opening.set(uri, loading);
    return loading;
  }

  async #load(uri: string): Promise<Session | undefined> {
    const { log, core, catalogue } = this.#parts;
    const archive = await log.archiveHead(uri);
    const entry = catalogue.find(uri);
    if (!archive || !entry) return undefined;
    const base = Math.max(0, archive.turnCount - TURNS_IN_MEMORY);
    const head = (await parseInSlices(archive.isDamaged ? headOf(entry) : archive.head)) as SessionState;
    const turns = await this.#turns(uri, base, archive.turnCount);
    const { state, lastTime, isDamaged } = await this.#replayed(uri, { ...head, turns }, archive.seq);
    if (this.#isClosed) return undefined;
    const session = this.#adopt(uri, state, { base, archived: archive.turnCount, lastTime });
    dropAbsentClient(session);
    if (archive.isDamaged || isDamaged) afterDamage(session);
    core.mayRest(uri);
    return session;
  }

  /** Turns that are stored, read and parsed a page at a time. */
  async #turns(uri: string, start: number, end: number): Promise<Turn[]> {
    const turns: Turn[] = [];
    while (start + turns.length < end) {
      if (turns.length > 0) await nextSlice();
      const range = { start: start + turns.length, end, maxBytes: TURN_PAGE_BYTES };
      const page = await this.#parts.log.archivedTurns(uri, range);
      if (page.length === 0) throw new Error(`turn ${range.start} of ${uri} is missing in the log`);
      turns.push(...(await parsedTurns(page.map(({ json }) => json))));
    }
    return turns;
  }

  /** The state after everything that was stored behind its archive. */
  async #replayed(uri: string, archived: SessionState, archivedAt: number) {
    let state = archived;
    let lastTime = archived.summary.modifiedAt;
    let isDamaged = false;
    for (let after = archivedAt; ; ) {
      const entries = await this.#parts.log.read({ after, channel: uri, limit: REPLAY_PAGE_ENTRIES });
      for (const { seq, action, time, ...entry } of entries) {
        if (entry.isDamaged) isDamaged = true;
        else state = sessionReducer(state, JSON.parse(action), { now: time });
        lastTime = time;
        after = seq;
      }
      if (entries.length < REPLAY_PAGE_ENTRIES) return { state, lastTime, isDamaged };
      await nextSlice();
    }
  }

  #adopt(uri: string, state: SessionState, place: Place): Session {
    const { agents, ...shared } = this.#parts;
    const channel = new Channel<SessionState>(uri, sessionReducer, state, { lastTime: place.lastTime });
    const pages = new TurnPages(shared.log, uri, place);
    const backend = agents.find(({ info }) => info.provider === state.summary.provider);
    const session = new Session({ ...shared, channel, pages, backend, predecessor: this.#leaving.get(uri) });
    this.#open.set(uri, session);
    return session;
  }

  /** Stores a session as it is now, so that opening it needs nothing but its archive. */
  async archive(session: Session): Promise<void> {
    session.archive();
    await this.#parts.core.writer.settled();
  }

  /** Lets a session leave memory, if nothing speaks against it. */
  async putAway(uri: string): Promise<void> {
    const session = this.#open.get(uri);
    if (!session?.isIdle) return;
    await this.archive(session);
    if (session.isClosed || !session.isIdle || this.#parts.core.isWatched(uri)) return;
    await this.remove(session);
  }

  /** Takes a session out. When it comes back soon, its agent waits until the one before has ended. */
  async remove(session: Session): Promise<void> {
    const { uri } = session;
    this.#open.delete(uri);
    const left = Promise.all([session.close(), this.#leaving.get(uri)]);
    this.#leaving.set(uri, left);
    await left;
    if (this.#leaving.get(uri) === left) this.#leaving.delete(uri);
  }

  /** All of them leave, and nobody comes any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open.values()].map((session) => this.remove(session)));
    await Promise.all(this.#leaving.values());
  }
}
