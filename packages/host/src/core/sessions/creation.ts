/** How a session comes to be: made anew, forked from another at one of its turns, or taken in from elsewhere. */
import {
  type CreateSessionParams,
  channelKind,
  ErrorCode,
  type SessionActiveClient,
  type SessionState,
} from '@atrium/protocol';
import type { AgentBackend } from '../contracts/agent.js';
import { RequestError } from '../contracts/request-error.js';
import { SESSION_URI_MAX_CHARACTERS } from '../limits.js';
import type { Choices } from './choices.js';
import { type ImportPage, invalid, withPast } from './imported.js';
import { unknownModel } from './known-models.js';
import type { ListNews } from './list-news.js';
import { forkTitle, newSessionState } from './new-session.js';
import type { Reserved } from './reserved.js';
import { tooLong } from './rules/config.js';
import { offeredBuiltins } from './session-parts.js';
import type { MemoryParts, SessionsInMemory } from './sessions-in-memory.js';
import { headText } from './turn-pages.js';

/** The client that creates a session. */
export interface Creator {
  readonly clientId: string | undefined;
  /** Throws when the agent wants a token first. */
  mayUse(agent: AgentBackend): void;
}

export interface CreationParts extends Pick<MemoryParts, 'core' | 'log' | 'catalogue' | 'notes' | 'agents' | 'tools'> {
  readonly choices: Choices;
  readonly memory: SessionsInMemory;
  readonly news: ListNews;
  readonly reserved: Reserved;
}

type Beginning = Omit<Parameters<typeof newSessionState>[1], 'now' | 'tools'>;

export class Creation {
  readonly #parts: CreationParts;

  constructor(parts: CreationParts) {
    this.#parts = parts;
  }

  /** Creates a session under the URI that the client chose. Its agent starts in the background. */
  async create(params: CreateSessionParams, creator: Creator): Promise<void> {
    const { channel, fork, activeClient } = params;
    while (this.#parts.reserved.has(channel)) await this.#parts.reserved.settled(channel);
    this.#checkUri(channel);
    const backend = this.#backendFor(params.provider);
    creator.mayUse(backend);
    checkChoices(backend, params);
    checkClaim(activeClient, creator.clientId);
    await this.#parts.reserved.during(channel, async () => {
      const chosen = await this.#parts.choices.chosen(channel, params);
      const copied = fork && (await this.#copyTurns(fork, channel));
      const beginning = { backend, ...chosen, ...(copied && { title: forkTitle(copied.title) }) };
      await this.#store(this.#firstState(params, beginning), copied?.turnCount ?? 0);
    });
    await this.#begin(channel);
  }

  /** Takes in a page of a session from elsewhere. With the last one it is here, and its agent starts. */
  async import(page: ImportPage, creator: Creator): Promise<void> {
    const { channel, summary } = page;
    while (this.#parts.reserved.has(channel)) await this.#parts.reserved.settled(channel);
    this.#checkUri(channel);
    const backend = summary && this.#backendFor(summary.provider);
    if (backend) creator.mayUse(backend);
    await this.#parts.reserved.during(channel, async () => {
      await this.#storePage(page);
      if (!summary || !backend) return;
      const { model, workingDirectory } = summary;
      const place = workingDirectory === undefined ? {} : { workingDirectory };
      const config = await this.#parts.choices.resolve(place);
      const state = this.#firstState({ channel, ...(model && { model }) }, { backend, config, place });
      await this.#store(withPast(state, summary), page.start + page.turns.length);
    });
    if (summary) await this.#begin(channel);
  }

  /** Called when nobody works on the URI: a client that is told that it is in use can subscribe to it. */
  #checkUri(uri: string): void {
    if (uri.length > SESSION_URI_MAX_CHARACTERS)
      throw new RequestError(ErrorCode.InvalidParams, `/channel may have ${SESSION_URI_MAX_CHARACTERS} characters`);
    const kind = channelKind(uri);
    if (kind !== 'session') throw new RequestError(ErrorCode.InvalidParams, `/channel: ${uri} is a ${kind} channel`);
    if (!uri.includes(':'))
      throw new RequestError(ErrorCode.InvalidParams, '/channel must be a URI: ahp-session:/<id>');
    const entry = this.#parts.catalogue.find(uri);
    if (!entry) return;
    const advice = entry.disposedAt !== undefined ? 'it was disposed and can be restored' : 'choose another';
    throw new RequestError(ErrorCode.SessionAlreadyExists, `${uri} is in use: ${advice}`);
  }

  #backendFor(provider: string | undefined): AgentBackend {
    const { agents, core } = this.#parts;
    const wanted = provider ?? core.root.settings.defaultAgent;
    const backend = wanted === undefined ? agents[0] : agents.find(({ info }) => info.provider === wanted);
    if (backend) return backend;
    const known = agents.map(({ info }) => info.provider).join(', ') || 'none';
    throw new RequestError(ErrorCode.ProviderNotFound, `no agent ${wanted ?? ''} is here; there are: ${known}`);
  }

  #firstState(params: CreateSessionParams, beginning: Beginning): SessionState {
    const { core, tools } = this.#parts;
    const offered = offeredBuiltins({ backend: beginning.backend, tools }).map(({ definition }) => definition);
    return newSessionState(params, { ...beginning, now: core.clock.now(), tools: offered });
  }

  /** Nobody sees these turns before the session is on the list. A new beginning forgets what an earlier one left. */
  async #storePage({ channel, start, turns }: ImportPage): Promise<void> {
    const { core, log } = this.#parts;
    if (start === 0) await this.#makeRoom(channel);
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

  /** Copies the turns of another session up to the one where this one begins, and says how many they are. */
  async #copyTurns(
    { session, turnId }: NonNullable<CreateSessionParams['fork']>,
    to: string,
  ): Promise<{ readonly turnCount: number; readonly title: string }> {
    const { log, memory } = this.#parts;
    // First: while it is done the source may be cut, and between looking for the turn and copying it must not be.
    await this.#makeRoom(to);
    const source = await memory.open(session);
    if (!source) throw new RequestError(ErrorCode.SessionNotFound, `there is no session ${session} to fork`);
    await memory.archive(source);
    const index = await source.parts.pages.indexOf(source.committed, turnId);
    if (index === undefined)
      throw new RequestError(ErrorCode.InvalidParams, `/fork/turnId: ${session} has no finished turn ${turnId}`);
    await log.copyTurns(session, to, index + 1);
    return { turnCount: index + 1, title: source.committed.summary.title };
  }

  /** The URI is free, so that what is stored under it can only be what an earlier attempt left behind. */
  async #makeRoom(uri: string): Promise<void> {
    const { core, log, notes } = this.#parts;
    await log.forget(uri);
    notes.setUnfinished(uri, core.clock.now());
    await core.writer.settled();
  }

  /** Stores the first state of a session; from then on it is on the list. */
  async #store(state: SessionState, turnCount: number): Promise<void> {
    const { core, catalogue, notes } = this.#parts;
    const uri = state.summary.resource;
    core.writer.archive(uri, () => ({
      channel: uri,
      seq: core.writer.assignedSeq,
      head: headText(state),
      turns: { start: turnCount, items: [] },
    }));
    catalogue.set(uri, { summary: state.summary, lifecycle: state.lifecycle });
    notes.setActive(uri, true);
    notes.setUnfinished(uri, undefined);
    await core.writer.settled();
  }

  /** Tells everyone of a new session and starts its agent. */
  async #begin(uri: string): Promise<void> {
    const { core, memory, news } = this.#parts;
    const session = await memory.open(uri);
    if (!session) return;
    const { summary } = session.state;
    core.logger.log('info', 'session created', { session: uri, provider: summary.provider });
    news.added(summary);
    session.create();
  }
}

function checkChoices({ info }: AgentBackend, { model, agent }: CreateSessionParams): void {
  const tooMuch = tooLong('model', model) ?? tooLong('agent', agent);
  if (tooMuch !== undefined) throw new RequestError(ErrorCode.InvalidParams, `/${tooMuch}`);
  const problem = unknownModel(info, model);
  if (problem !== undefined) throw new RequestError(ErrorCode.InvalidParams, `/model/id: ${problem}`);
}

function checkClaim(activeClient: SessionActiveClient | undefined, clientId: string | undefined): void {
  if (!activeClient || activeClient.clientId === clientId) return;
  throw new RequestError(ErrorCode.InvalidParams, '/activeClient/clientId must be your own');
}
