/** Makes sessions: created, forked from another one at one of its turns, or imported. */
import {
  type AgentInfo,
  annotationsChannel,
  type ChatState,
  type ChatSummary,
  type CreateSessionParams,
  channelKind,
  defaultChatUri,
  ErrorCode,
  FORK_META_KEY,
  type ModelSelection,
  PRIVATE,
  type SessionActiveClient,
  type SessionOrigin,
  type SessionState,
  SessionStatus,
  type SessionSummary,
  selectionOf,
  sideContextUri,
  type ToolDefinition,
  withSelection,
} from '@atrium/protocol/ahp-1';
import type { AgentBackend } from '../contracts/agent.js';
import { RequestError } from '../contracts/request-error.js';
import { didYouMean, shorten } from '../util/text.js';
import { annotationsSummary, NO_ANNOTATIONS } from './annotations.js';
import { firstChat, type ListNews, listedChat } from './catalogue.js';
import type { ReportProgress } from './creation-progress.js';
import { headText } from './history.js';
import { SESSION_CHATS_MAX, SESSION_FOLDERS_MAX, SESSION_URI_MAX_CHARACTERS, TITLE_MAX_CHARACTERS } from './limits.js';
import { offeredBuiltins } from './session.js';
import type { Resolved, SessionConfig, SessionLocation } from './session-config.js';
import { copyForFork } from './session-fork.js';
import { type ImportPage, invalid, storedAt, withPast } from './session-import.js';
import { tooLong } from './session-rules.js';
import { chatSummaryOf, summaryOf } from './session-summary.js';
import type { SessionsInMemory, SessionsInMemoryOptions } from './sessions.js';

/** The creator of a session: a client, or a part of the host. */
export interface Creator {
  /** Undefined when the host itself creates the session. */
  readonly clientId: string | undefined;
  /** Throws when the agent requires a token first. */
  assertUsable(agent: AgentBackend): void;
  /** Gets the progress of the creation. */
  readonly progress?: ReportProgress | undefined;
  /** Origin and first title of a session that no client asked for. */
  readonly origin?: SessionOrigin;
  readonly title?: string;
}

export interface CreationOptions extends SessionsInMemoryOptions {
  readonly choices: SessionConfig;
  readonly memory: SessionsInMemory;
  readonly news: ListNews;
  readonly reserved: Reserved;
}

type Beginning = Omit<Parameters<typeof newSessionState>[1], 'now' | 'tools'>;

export class Creation {
  readonly #options: CreationOptions;

  constructor(options: CreationOptions) {
    this.#options = options;
  }

  /** Creates a session under the URI that the client chose. Its agent starts in the background. */
  async create(params: CreateSessionParams, creator: Creator): Promise<void> {
    const { channel, fork, activeClient } = params;
    while (this.#options.reserved.has(channel)) await this.#options.reserved.settled(channel);
    this.#checkUri(channel);
    const backend = this.#backendFor(params.provider);
    creator.assertUsable(backend);
    checkChoices(backend, params);
    checkClaim(activeClient, creator.clientId);
    await this.#options.reserved.during(channel, async () => {
      const [workingDirectory, ...furtherDirectories] = directoriesFor(backend, params.workingDirectories);
      const context = { workingDirectory, furtherDirectories, config: params.config };
      const chosen = await this.#options.choices.chosen(channel, context, { ignoresUnknown: !(PRIVATE in params) });
      const copied = fork && (await this.#copy(fork, channel, foldersFor(backend, chosen.location)));
      const { origin, title = copied && forkTitle(copied.title) } = creator;
      const source = fork && { forkOf: fork.session };
      const beginning = {
        ...{ backend, ...chosen, ...source },
        ...(title !== undefined && { title }),
        ...(origin && { origin }),
      };
      const first = this.#firstState(params, beginning);
      const { turnCount = 0, chats = [] } = copied ?? {};
      await this.#store(chats.length > 0 ? await this.#withChats(first, chats) : first, turnCount);
    });
    await this.#begin(channel, creator.progress);
  }

  /** Imports a page of a session from elsewhere. The last page makes the session, and starts its agent. */
  async import(page: ImportPage, creator: Creator): Promise<void> {
    const { channel, summary } = page;
    while (this.#options.reserved.has(channel)) await this.#options.reserved.settled(channel);
    this.#checkUri(channel);
    const backend = summary && this.#backendFor(summary.provider);
    if (backend) creator.assertUsable(backend);
    await this.#options.reserved.during(channel, async () => {
      await this.#storePage(page);
      if (!summary || !backend) return;
      const workingDirectories = summary.workingDirectories && directoriesFor(backend, summary.workingDirectories);
      const { model } = selectionOf(summary._meta);
      const location = workingDirectories ? { workingDirectories } : {};
      const config = await this.#options.choices.resolve({ workingDirectory: workingDirectories?.[0] });
      const state = this.#firstState({ channel, ...(model && { model }) }, { backend, config, location });
      const { annotations } = page;
      if (annotations) {
        const uri = annotationsChannel(channel);
        const head = JSON.stringify(annotations);
        this.#options.writer.storeArchive(uri, () => ({ channel: uri, head, turns: { start: 0, items: [] } }));
      }
      const past = withPast(state, summary);
      const counts = annotationsSummary(channel, annotations ?? NO_ANNOTATIONS);
      const first = { ...past, summary: { ...past.summary, annotations: counts } };
      await this.#store(await this.#withChats(first, page.chats ?? []), page.start + page.turns.length);
    });
    if (summary) await this.#begin(channel);
  }

  /**
   * Checks a URI. Call it when no work on the URI is under way: a client that is told that the URI is in use may
   * subscribe to it.
   */
  #checkUri(uri: string): void {
    if (uri.length > SESSION_URI_MAX_CHARACTERS)
      throw new RequestError(
        ErrorCode.InvalidParams,
        `/channel may have at most ${SESSION_URI_MAX_CHARACTERS} characters`,
      );
    const kind = channelKind(uri);
    if (kind !== 'session') throw new RequestError(ErrorCode.InvalidParams, `/channel: ${uri} is a ${kind} channel`);
    if (!uri.includes(':'))
      throw new RequestError(ErrorCode.InvalidParams, '/channel must be a URI: ahp-session:/<id>');
    const entry = this.#options.catalogue.find(uri);
    if (!entry) return;
    const advice = entry.disposedAt !== undefined ? 'it was disposed and can be restored' : 'choose another';
    throw new RequestError(ErrorCode.SessionAlreadyExists, `${uri} is in use: ${advice}`);
  }

  #backendFor(provider: string | undefined): AgentBackend {
    const { agents, root } = this.#options;
    const wanted = provider ?? root.settings.defaultAgent;
    const backend = wanted === undefined ? agents[0] : agents.find(({ info }) => info.provider === wanted);
    if (backend) return backend;
    const known = agents.map(({ info }) => info.provider).join(', ') || 'none';
    throw new RequestError(ErrorCode.ProviderNotFound, `no agent ${wanted ?? ''} is available; there are: ${known}`);
  }

  #firstState(params: CreateSessionParams, beginning: Beginning): FirstState {
    const { clock, tools } = this.#options;
    const offered = offeredBuiltins({ backend: beginning.backend, tools }).map(({ definition }) => definition);
    return newSessionState(params, { ...beginning, now: clock.now(), tools: offered });
  }

  /** Adds further chats to a session; they are stored in the same tick. Their turns are already stored. */
  async #withChats(first: FirstState, chats: readonly ChatSummary[]): Promise<FirstState> {
    const { log, writer, catalogue } = this.#options;
    const session = first.summary.resource;
    const counts = new Map<string, number>();
    for (const { resource } of chats) {
      if (catalogue.chats.isUsedElsewhere(resource, session)) throw invalid(`/state/chats: ${resource} is in use`);
      counts.set(resource, (await log.archiveHead(resource))?.turnCount ?? 0);
    }
    for (const summary of chats) {
      const { resource: channel } = summary;
      const turns = { start: counts.get(channel) ?? 0, items: [] };
      writer.storeArchive(channel, () => ({ channel, head: headText(listedChat(summary)), turns }));
      catalogue.chats.set(channel, session);
    }
    const state = { ...first.session, chats: [...first.session.chats, ...chats] };
    const { resource, createdAt, modifiedAt, annotations } = first.summary;
    const summary = summaryOf(state, [first.chat], { resource, createdAt, modifiedAt });
    return { ...first, session: state, summary: { ...summary, ...(annotations && { annotations }) } };
  }

  /**
   * Stores the turns of a page. No client sees them before the session is listed. An import that starts again forgets
   * what an earlier attempt left.
   */
  async #storePage(page: ImportPage): Promise<void> {
    const { channel, chat: further, start, turns, chats = [] } = page;
    const { writer, log, catalogue } = this.#options;
    const chat = storedAt(page);
    if (further !== undefined && catalogue.chats.isUsedElsewhere(further, channel))
      throw invalid(`/chat: ${further} is in use`);
    // The last page of a session without turns follows the pages of its further chats.
    if (start === 0 && further === undefined && chats.length === 0) await this.#makeRoom(channel);
    if (start === 0 && further !== undefined) {
      checkReserved(further, catalogue.chats.storedFor(channel));
      // Reserve the URI before the first `await`: what is forgotten under it must not belong to another chat.
      catalogue.chats.reserve(further, channel);
      await log.forget(chat);
    }
    const here = (await log.archiveHead(chat))?.turnCount ?? 0;
    if (start !== here) throw invalid(`/start must be ${here}: that many turns were imported`);
    for (const { id } of turns) {
      if ((await log.findTurn(chat, id)) !== undefined) throw invalid(`/turns: turn ${id} was imported already`);
    }
    if (turns.length === 0) return;
    writer.storeArchive(chat, () => ({ channel: chat, head: '{}', turns: { start, items: turns } }));
    await writer.settled();
  }

  /** Copies another session up to the turn where this one begins. */
  async #copy(
    { session, turnId }: NonNullable<CreateSessionParams['fork']>,
    to: string,
    folders: readonly string[] | undefined,
  ): Promise<{ readonly turnCount: number; readonly title: string; readonly chats: readonly ChatSummary[] }> {
    const { log, memory, writer, catalogue } = this.#options;
    // This comes first, because the source may be cut while it takes place.
    await this.#makeRoom(to);
    const source = await memory.open(session);
    if (!source) throw new RequestError(ErrorCode.SessionNotFound, `there is no session ${session} to fork`);
    await memory.storeArchive(source);
    const index = await source.chat.indexOfTurn(turnId);
    if (index === undefined)
      throw new RequestError(ErrorCode.InvalidParams, `/fork/turnId: ${session} has no finished turn ${turnId}`);
    const end = index + 1;
    const chats = await copyForFork({ log, writer, chats: catalogue.chats }, { source, to, end, folders });
    if ((await log.findTurn(defaultChatUri(to), turnId)) !== index)
      throw new RequestError(ErrorCode.InvalidParams, `/fork/turnId: turn ${turnId} was cut off meanwhile`);
    return { turnCount: end, title: source.committed.title, chats };
  }

  /** Clears a URI. It is free, so only an earlier attempt can have left something under it. */
  async #makeRoom(uri: string): Promise<void> {
    const { clock, writer, log, records, catalogue } = this.#options;
    for (const chat of catalogue.chats.storedFor(uri)) {
      await log.forget(sideContextUri(chat));
      await log.forget(chat);
      catalogue.chats.forget(chat);
    }
    await log.forget(defaultChatUri(uri));
    await log.forget(annotationsChannel(uri));
    await log.forget(uri);
    records.setUnfinished(uri, clock.now());
    await writer.settled();
  }

  /** Stores the first state of a session and its chat; from then on it is listed. */
  async #store({ session, chat, summary }: FirstState, turnCount: number): Promise<void> {
    const { writer, catalogue, records } = this.#options;
    const uri = summary.resource;
    writer.storeArchive(uri, () => ({ channel: uri, head: JSON.stringify(session), turns: { start: 0, items: [] } }));
    writer.storeArchive(chat.resource, () => ({
      channel: chat.resource,
      head: headText(chat),
      turns: { start: turnCount, items: [] },
    }));
    catalogue.set(uri, { summary, lifecycle: session.lifecycle });
    records.setActive(uri, true);
    records.setUnfinished(uri, undefined);
    await writer.settled();
  }

  /** Announces a new session and starts its agent. */
  async #begin(uri: string, progress?: ReportProgress): Promise<void> {
    const { logger, memory, news } = this.#options;
    const session = await memory.open(uri);
    if (!session) return;
    const summary = this.#options.catalogue.find(uri)?.summary;
    logger.log('info', 'session created', { session: uri, provider: session.state.provider });
    if (summary) news.added(summary);
    session.create(progress);
  }
}

function checkReserved(chat: string, reserved: readonly string[]): void {
  if (!reserved.includes(chat) && reserved.length >= SESSION_CHATS_MAX - 1)
    throw invalid(`/chat: a session has ${SESSION_CHATS_MAX} chats at most`);
}

function checkChoices({ info }: AgentBackend, { model, agent }: CreateSessionParams): void {
  const tooMuch = tooLong('model', model) ?? tooLong('agent', agent);
  if (tooMuch !== undefined) throw new RequestError(ErrorCode.InvalidParams, `/${tooMuch}`);
  const problem = unknownModel(info, model);
  if (problem !== undefined) throw new RequestError(ErrorCode.InvalidParams, `/model/id: ${problem}`);
}

/** The working folders of a session. Most agents work in one folder and get only the first. */
function directoriesFor({ info }: AgentBackend, wanted: readonly string[] = []): string[] {
  if (!info.capabilities?.multipleWorkingDirectories) return wanted.slice(0, 1);
  if (wanted.length > SESSION_FOLDERS_MAX)
    throw new RequestError(ErrorCode.InvalidParams, `/workingDirectories: ${SESSION_FOLDERS_MAX} at most`);
  return [...new Set(wanted)];
}

/** The folders that chats of a session may choose from; undefined when its agent allows only one chat. */
function foldersFor({ info }: AgentBackend, location: SessionLocation): readonly string[] | undefined {
  return info.capabilities?.multipleChats && (location.workingDirectories ?? []);
}

function checkClaim(activeClient: SessionActiveClient | undefined, clientId: string | undefined): void {
  if (!activeClient || activeClient.clientId === clientId) return;
  throw new RequestError(ErrorCode.InvalidParams, '/activeClient/clientId must be your own');
}

interface Origin {
  readonly backend: AgentBackend;
  readonly config: Resolved;
  readonly location: SessionLocation;
  readonly now: number;
  /** For a fork or an import. */
  readonly title?: string;
  /** For a session that no client asked for. */
  readonly origin?: SessionOrigin;
  /** The session of which this one is a copy. */
  readonly forkOf?: string;
  /** The host's own tools that the agent uses. */
  readonly tools: readonly ToolDefinition[];
}

/** What a session begins with: its state, its chat, and its entry in lists. */
export interface FirstState {
  readonly session: SessionState;
  readonly chat: ChatState;
  readonly summary: SessionSummary;
}

export function newSessionState(
  params: CreateSessionParams,
  { backend, config, location, now, tools, origin, forkOf, title = 'New session' }: Origin,
): FirstState {
  const { channel, model, agent, activeClient } = params;
  const time = new Date(now).toISOString();
  const chat = firstChat(channel, time);
  const session: SessionState = {
    provider: backend.info.provider,
    title,
    status: SessionStatus.Idle,
    ...(origin && { origin }),
    ...location,
    lifecycle: 'creating',
    ...(tools.length > 0 && { serverTools: [...tools] }),
    activeClients: activeClient ? [activeClient] : [],
    chats: [chatSummaryOf(chat)],
    defaultChat: chat.resource,
    config,
    ...(backend.info.customizations && { customizations: backend.info.customizations }),
    ...((model || agent || forkOf !== undefined) && {
      _meta: withSelection(forkOf === undefined ? undefined : { [FORK_META_KEY]: forkOf }, { model, agent }),
    }),
  };
  return {
    session,
    chat,
    summary: summaryOf({ ...session, annotations: annotationsSummary(channel, NO_ANNOTATIONS) }, [chat], {
      resource: channel,
      createdAt: time,
      modifiedAt: time,
    }),
  };
}

/** A fork has the title of its source; a fork of a fork gets a number. */
export function forkTitle(title: string): string {
  const [, name = title, number] = /^(.*) \(fork(?: (\d{1,6}))?\)$/s.exec(title) ?? [];
  const isFork = name !== title;
  const mark = isFork ? ` (fork ${Number(number ?? 1) + 1})` : ' (fork)';
  return `${shorten(name, TITLE_MAX_CHARACTERS - mark.length)}${mark}`;
}

/** URIs with work in progress: meanwhile, no other request may create, restore or forget the session. */
export class Reserved {
  readonly #work = new Map<string, Promise<unknown>>();

  has(uri: string): boolean {
    return this.#work.has(uri);
  }

  /** Waits for the end of the work on a URI; by then, another request may have begun. */
  async settled(uri: string): Promise<void> {
    await this.#work.get(uri)?.catch(() => {});
  }

  /** Runs a task with the URI reserved. The caller has made sure that it is free. */
  async during<T>(uri: string, task: () => Promise<T>): Promise<T> {
    const work = task().finally(() => this.#work.delete(uri));
    this.#work.set(uri, work);
    return work;
  }
}

/** How many models a refusal names; some agents have hundreds. */
const NAMED_MAX = 20;

/** Says why the agent cannot use a model; undefined when it can, or when that is not known. */
export function unknownModel({ provider, models }: AgentInfo, wanted: ModelSelection | undefined): string | undefined {
  if (!wanted || models.length === 0 || models.some(({ id }) => id === wanted.id)) return undefined;
  const ids = models.map(({ id }) => id);
  const more = ids.length > NAMED_MAX ? ` and ${ids.length - NAMED_MAX} more` : '';
  const hint = didYouMean(wanted.id, ids).replace(/\?$/, '');
  return (
    `the agent ${provider} has no model ${JSON.stringify(wanted.id)}${hint}. ` +
    `It has: ${ids.slice(0, NAMED_MAX).join(', ')}${more}`
  );
}
