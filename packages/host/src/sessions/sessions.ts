/** All sessions: created, listed, brought into memory when needed, put away when not, disposed and restored. */
import {
  type CreateSessionParams,
  channelKind,
  ErrorCode,
  type SessionActiveClient,
  type SessionState,
  type SessionSummary,
  sessionReducer,
} from '@atrium/protocol';
import type { AgentBackend } from '../agents/agent.js';
import { Channel } from '../channels/channel.js';
import type { HostCore } from '../core.js';
import type { Extension } from '../extensions/extension.js';
import { DISPOSED_KEPT_MS, TURNS_IN_MEMORY } from '../limits.js';
import type { Log } from '../log/log.js';
import type { HostTool } from '../tools/tool.js';
import { RequestError } from '../wire/request-error.js';
import type { Catalogue } from './catalogue.js';
import type { Choices } from './choices.js';
import type { AttachCompanion } from './companion.js';
import { type ImportPage, invalid, withPast } from './imported.js';
import { afterCrash, dropAbsentClient } from './mending.js';
import { newSessionState } from './new-session.js';
import { offeredBuiltins, Session } from './session.js';
import { headText, TurnPages } from './turn-pages.js';

export interface SessionsParts {
  readonly core: HostCore;
  readonly log: Log;
  readonly catalogue: Catalogue;
  readonly agents: readonly AgentBackend[];
  readonly tools: readonly HostTool[];
  readonly extensions: readonly Extension[];
  readonly companions: readonly AttachCompanion[];
  /** Tells everyone who keeps a list. */
  readonly announce: (method: string, params: object) => void;
  /** The number of sessions changed. */
  readonly counted: () => void;
  readonly choices: Choices;
}

/** A session that is off the list, and when that happened, in milliseconds since the epoch. */
export interface DisposedSession {
  readonly summary: SessionSummary;
  readonly disposedAt: number;
}

/** The client that creates a session. */
export interface Creator {
  readonly clientId: string | undefined;
  /** Throws when the agent wants a token first. */
  mayUse(agent: AgentBackend): void;
}

export class Sessions {
  readonly #parts: SessionsParts;
  readonly #open = new Map<string, Session>();
  readonly #opening = new Map<string, Promise<Session | undefined>>();
  /** URIs of sessions that are being created or restored. */
  readonly #creating = new Set<string>();
  /** The host stops: what is not stored yet must not be opened again without it. */
  #isClosed = false;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
  }

  /** The sessions that are in memory. */
  get inMemory(): ReadonlyMap<string, Session> {
    return this.#open;
  }

  get choices(): Choices {
    return this.#parts.choices;
  }

  /** The summaries of all sessions that are not disposed, as one JSON array. */
  listText(): string {
    return this.#parts.catalogue.listText();
  }

  /** Whether there is such a session, in memory or not. */
  has(uri: string): boolean {
    return this.#parts.catalogue.isListed(uri);
  }

  /** Whether anything is stored of it: disposed sessions are kept for a while. */
  isKept(uri: string): boolean {
    return this.#parts.catalogue.find(uri) !== undefined;
  }

  /** Where the sessions that are not disposed work. The same object as long as that is the same. */
  workingFolders(): ReadonlySet<string> {
    return this.#parts.catalogue.workingFolders();
  }

  /** All that are stored, disposed ones too. */
  stored(): readonly string[] {
    return this.#parts.catalogue.stored();
  }

  /** Those that were disposed and can be restored. */
  disposed(): DisposedSession[] {
    const { catalogue } = this.#parts;
    return catalogue.disposed().flatMap(({ uri, at: disposedAt }) => {
      const { summary } = catalogue.find(uri) ?? {};
      return summary ? [{ summary, disposedAt }] : [];
    });
  }

  isListed(uri: string): boolean {
    return this.#parts.catalogue.isListed(uri);
  }

  /** The session with this URI, brought into memory; undefined when there is none, or it was disposed. */
  async open(uri: string): Promise<Session | undefined> {
    const present = this.#open.get(uri);
    if (present) return present.isClosed ? undefined : present;
    if (this.#isClosed || !this.#parts.catalogue.isListed(uri)) return undefined;
    const loading = this.#opening.get(uri) ?? this.#load(uri).finally(() => this.#opening.delete(uri));
    this.#opening.set(uri, loading);
    return loading;
  }

  async #load(uri: string): Promise<Session | undefined> {
    const { log } = this.#parts;
    const archive = await log.archiveHead(uri);
    if (!archive) return undefined;
    const base = Math.max(0, archive.turnCount - TURNS_IN_MEMORY);
    const recent = await log.archivedTurns(uri, { start: base, end: archive.turnCount });
    const archived: SessionState = { ...JSON.parse(archive.head), turns: recent.map(({ json }) => JSON.parse(json)) };
    const tail = await log.read({ after: archive.seq, channel: uri });
    const state = tail.reduce(
      (current, { action, time }) => sessionReducer(current, JSON.parse(action), { now: time }),
      archived,
    );
    const lastTime = tail.at(-1)?.time ?? archived.summary.modifiedAt;
    const session = this.#adopt(uri, state, { base, archived: archive.turnCount, lastTime });
    dropAbsentClient(session);
    this.#parts.core.mayRest(uri);
    return session;
  }

  #adopt(uri: string, state: SessionState, place: { base: number; archived: number; lastTime: number }): Session {
    const { core, log, agents, tools, catalogue, extensions, companions } = this.#parts;
    const channel = new Channel<SessionState>(uri, sessionReducer, state, { lastTime: place.lastTime });
    const pages = new TurnPages(log, uri, place);
    const backend = agents.find(({ info }) => info.provider === state.summary.provider);
    const session = new Session({ core, log, channel, pages, backend, tools, catalogue, extensions, companions });
    this.#open.set(uri, session);
    return session;
  }

  /** Creates a session under the URI that the client chose. Its agent starts in the background. */
  async create(params: CreateSessionParams, creator: Creator): Promise<void> {
    const { channel } = params;
    this.#checkUri(channel);
    const backend = this.#backendFor(params);
    creator.mayUse(backend);
    checkClaim(params.activeClient, creator.clientId);
    this.#creating.add(channel);
    try {
      const { config, place } = await this.#parts.choices.chosen(channel, params);
      const forked = params.fork && (await this.#forkPoint(params.fork));
      if (forked) await this.#copyTurns(forked, channel);
      const now = this.#parts.core.clock.now();
      const tools = offeredBuiltins({ backend, tools: this.#parts.tools }).map(({ definition }) => definition);
      await this.#store(newSessionState(params, { backend, config, place, now, tools }), forked?.end ?? 0);
    } finally {
      this.#creating.delete(channel);
    }
    await this.#begin(channel);
  }

  /** Takes in a page of a session from elsewhere. With the last one it is here, and its agent starts. */
  async import(page: ImportPage, creator: Creator): Promise<void> {
    const { channel, summary } = page;
    this.#checkUri(channel);
    const backend = summary && this.#backendFor(summary);
    if (backend) creator.mayUse(backend);
    this.#creating.add(channel);
    try {
      await this.#storePage(page);
      if (!summary || !backend) return;
      const { model, workingDirectory } = summary;
      const params = { channel, ...(model && { model }) };
      const place = workingDirectory === undefined ? {} : { workingDirectory };
      const config = await this.#parts.choices.resolve(place);
      const tools = offeredBuiltins({ backend, tools: this.#parts.tools }).map(({ definition }) => definition);
      const now = this.#parts.core.clock.now();
      const state = newSessionState(params, { backend, config, place, now, tools });
      await this.#store(withPast(state, summary), page.start + page.turns.length);
    } finally {
      this.#creating.delete(channel);
    }
    await this.#begin(channel);
  }

  /** Nobody sees these turns before the session is on the list. A new beginning forgets what an earlier one left. */
  async #storePage({ channel, start, turns }: ImportPage): Promise<void> {
    const { core, log } = this.#parts;
    if (start === 0) await log.forget(channel);
    const here = (await log.archiveHead(channel))?.turnCount ?? 0;
    if (start !== here) throw invalid(`/start must be ${here}: so many turns are here`);
    for (const { id } of turns) {
      if ((await log.findTurn(channel, id)) !== undefined) throw invalid(`/turns: there is a turn ${id} already`);
    }
    if (turns.length === 0) return;
    const place = { channel, seq: core.writer.assignedSeq, head: '{}' };
    core.writer.archive(channel, () => ({ ...place, turns: { start, items: turns } }));
    await core.writer.settled();
  }

  /** The URI is free, so that what is stored under it can only be what an earlier attempt left behind. */
  async #copyTurns({ from, end }: { from: string; end: number }, to: string): Promise<void> {
    await this.#parts.log.forget(to);
    await this.#parts.log.copyTurns(from, to, end);
  }

  /** Tells everyone of a new session and starts its agent. */
  async #begin(uri: string): Promise<void> {
    const session = await this.open(uri);
    if (!session) return;
    const { summary } = session.state;
    this.#parts.core.logger.log('info', 'session created', { session: uri, provider: summary.provider });
    this.#parts.announce('root/sessionAdded', { summary });
    this.#parts.counted();
    session.create();
  }

  /** Stores the first state of a session; from then on it is on the list. */
  async #store(state: SessionState, turnCount: number): Promise<void> {
    const { core, catalogue } = this.#parts;
    const uri = state.summary.resource;
    core.writer.archive(uri, () => ({
      channel: uri,
      seq: core.writer.assignedSeq,
      head: headText(state),
      turns: { start: turnCount, items: [] },
    }));
    catalogue.set(uri, { summary: state.summary, lifecycle: state.lifecycle });
    catalogue.setActive(uri, true);
    await core.writer.settled();
  }

  #backendFor({ provider }: Pick<CreateSessionParams, 'provider'>): AgentBackend {
    const { agents, core } = this.#parts;
    const wanted = provider ?? core.root.settings.defaultAgent;
    const backend = wanted === undefined ? agents[0] : agents.find(({ info }) => info.provider === wanted);
    if (backend) return backend;
    const known = agents.map(({ info }) => info.provider).join(', ') || 'none';
    throw new RequestError(ErrorCode.ProviderNotFound, `no agent ${wanted ?? ''} is here; there are: ${known}`);
  }

  #checkUri(uri: string): void {
    const kind = channelKind(uri);
    if (kind !== 'session') throw new RequestError(ErrorCode.InvalidParams, `/channel: ${uri} is a ${kind} channel`);
    if (!uri.includes(':'))
      throw new RequestError(ErrorCode.InvalidParams, '/channel must be a URI: ahp-session:/<id>');
    const entry = this.#parts.catalogue.find(uri);
    if (!entry && !this.#creating.has(uri)) return;
    const advice = entry?.disposedAt !== undefined ? 'it was disposed and can be restored' : 'choose another';
    throw new RequestError(ErrorCode.SessionAlreadyExists, `${uri} is in use: ${advice}`);
  }

  async #forkPoint({
    session: uri,
    turnId,
  }: {
    session: string;
    turnId: string;
  }): Promise<{ from: string; end: number }> {
    const source = await this.open(uri);
    if (!source) throw new RequestError(ErrorCode.SessionNotFound, `there is no session ${uri} to fork`);
    await this.#archived(source);
    const index = await source.parts.pages.indexOf(source.committed, turnId);
    if (index === undefined) {
      throw new RequestError(ErrorCode.InvalidParams, `/fork/turnId: ${uri} has no finished turn ${turnId}`);
    }
    return { from: uri, end: index + 1 };
  }

  async #archived(session: Session): Promise<void> {
    session.archive();
    await this.#parts.core.writer.settled();
  }

  /** Takes a session off the list. Its history stays, and can be restored for a while. */
  async dispose(uri: string): Promise<void> {
    const session = await this.open(uri);
    if (!session || session.isClosed) {
      throw new RequestError(ErrorCode.SessionNotFound, `there is no session ${uri}`);
    }
    await session.dispose();
    this.#open.delete(uri);
    this.#parts.announce('root/sessionRemoved', { session: uri });
    this.#parts.counted();
    this.#parts.core.unsubscribeAll(uri);
    void session.close();
  }

  /** Puts a disposed session back on the list. */
  async restore(uri: string): Promise<void> {
    const { core, catalogue } = this.#parts;
    const entry = catalogue.find(uri);
    if (entry?.disposedAt === undefined || this.#creating.has(uri)) {
      throw new RequestError(ErrorCode.SessionNotFound, `no disposed session ${uri} is kept`);
    }
    this.#creating.add(uri);
    catalogue.set(uri, { summary: entry.summary, lifecycle: entry.lifecycle });
    await core.writer.settled().finally(() => this.#creating.delete(uri));
    this.#parts.announce('root/sessionAdded', { summary: entry.summary });
    this.#parts.counted();
  }

  /** After a start: turns that a crash cut off end as errors that say so; sessions being created go on. */
  async recover(): Promise<void> {
    for (const uri of await this.#parts.catalogue.interrupted()) {
      await this.#recover(uri).catch((error) =>
        this.#parts.core.logger.log('error', 'a session cannot be opened', { session: uri, error: String(error) }),
      );
    }
  }

  async #recover(uri: string): Promise<void> {
    const { catalogue } = this.#parts;
    const held = await catalogue.held(uri);
    const session = await this.open(uri);
    if (!session) return catalogue.setActive(uri, false);
    session.restoreHeld(held);
    afterCrash(session);
  }

  /** Forgets sessions that were disposed long ago. */
  async purge(): Promise<void> {
    const { core, catalogue, log } = this.#parts;
    const before = core.clock.now() - DISPOSED_KEPT_MS;
    for (const { uri } of catalogue.disposed().filter(({ at }) => at < before)) {
      catalogue.remove(uri);
      await core.writer.settled();
      await log.forget(uri);
      for (const service of core.services) await service.forgotten?.(uri);
    }
  }

  /** Lets a session leave memory, if nothing speaks against it. */
  async putAway(uri: string): Promise<void> {
    const session = this.#open.get(uri);
    if (!session?.isIdle) return;
    await this.#archived(session);
    if (!session.isIdle || this.#parts.core.isWatched(uri)) return;
    this.#open.delete(uri);
    await session.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const sessions = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(sessions.map((session) => session.close()));
  }
}

function checkClaim(activeClient: SessionActiveClient | undefined, clientId: string | undefined): void {
  if (!activeClient || activeClient.clientId === clientId) return;
  throw new RequestError(ErrorCode.InvalidParams, '/activeClient/clientId must be your own');
}
