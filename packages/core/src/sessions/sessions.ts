/** All sessions of a host: opened when they are needed, unloaded, disposed, restored, and finally forgotten. */
import {
  type AnnotationsState,
  annotationsChannel,
  annotationsReducer,
  type ChatState,
  type ChatSummary,
  type CreateChatParams,
  type CreateSessionParams,
  chatReducer,
  defaultChatUri,
  ErrorCode,
  type LastChoice,
  MODE_PROPERTY,
  type SessionState,
  type SessionSummary,
  type StateAction,
  sessionReducer,
} from '@atrium/protocol/ahp-1';
import { Channel } from '../channels/channel.js';
import type { AgentBackend } from '../contracts/agent.js';
import { RequestError } from '../contracts/request-error.js';
import type { LogEntry } from '../log/log.js';
import { nextSlice, parseInSlices } from '../util/slices.js';
import { type Annotations, NO_ANNOTATIONS, sessionOfAnnotations } from './annotations.js';
import { firstChat, isCursor, ListNews, type ListPage, listedChat, type PageRequest, stateOf } from './catalogue.js';
import type { Chat } from './chat.js';
import { ChatCreation } from './chat-creation.js';
import { Creation, type CreationOptions, type Creator, Reserved } from './creation.js';
import { parsedTurns, TurnPages } from './history.js';
import { DISPOSED_KEPT_MS, TURNS_IN_MEMORY, UNFINISHED_KEPT_MS } from './limits.js';
import type { CatalogueEntry } from './listed-session.js';
import { afterDamage } from './recovery.js';
import { InterruptedCommands } from './running-commands.js';
import type { Service } from './service.js';
import { Session, type SharedSessionOptions, type WorkerChats } from './session.js';
import type { SessionConfig } from './session-config.js';
import type { ImportPage } from './session-import.js';
import { chosenMode } from './session-permissions.js';

export interface SessionsOptions extends Omit<SessionsInMemoryOptions, 'workerChats'> {
  readonly choices: SessionConfig;
}

/** A disposed session, and when it was disposed, in milliseconds since the epoch. */
export interface DisposedSession {
  readonly summary: SessionSummary;
  readonly disposedAt: number;
}

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #memory: SessionsInMemory;
  readonly #creation: Creation;
  readonly #removal: Removal;
  readonly #chats: ChatCreation;
  /** Sessions whose disposal is being stored. */
  readonly #ending = new Map<string, Promise<unknown>>();

  constructor({ choices, ...given }: SessionsOptions) {
    const workerChats: WorkerChats = {
      open: (session, chat, parts) => this.#chats.worker(session, chat, parts),
      remove: (session, chat) => this.#chats.remove(session, chat),
    };
    const shared = { ...given, workerChats };
    this.#options = { choices, ...given };
    this.#memory = new SessionsInMemory(shared);
    const { watchers, root, catalogue } = shared;
    const common = {
      ...shared,
      memory: this.#memory,
      news: new ListNews({ watchers, root, catalogue }),
      reserved: new Reserved(),
    };
    this.#creation = new Creation({ ...common, choices });
    this.#chats = new ChatCreation(common);
    this.#removal = new Removal(common, this.#chats);
  }

  /** The sessions in memory. */
  get inMemory(): ReadonlyMap<string, Session> {
    return this.#memory.all;
  }

  get choices(): SessionConfig {
    return this.#options.choices;
  }

  /** The summaries of sessions that are not disposed. */
  page(request?: PageRequest): ListPage {
    if (request?.cursor !== undefined && !isCursor(request.cursor)) {
      throw new RequestError(ErrorCode.InvalidParams, `/cursor: ${request.cursor} is not a cursor of this host`);
    }
    return this.#options.catalogue.page(request);
  }

  /** True when a session exists, in memory or not, and is not disposed. */
  has(uri: string): boolean {
    return this.#options.catalogue.isListed(uri);
  }

  /** True when anything is stored of a session: disposed ones are kept for a while. */
  isKept(uri: string): boolean {
    return this.#options.catalogue.has(uri);
  }

  /** The working folders of all sessions that are not disposed. Returns the same object until they change. */
  workingFolders(): ReadonlySet<string> {
    return this.#options.catalogue.workingFolders();
  }

  /** All stored sessions, including disposed ones. */
  stored(): readonly string[] {
    return this.#options.catalogue.stored();
  }

  /** What the newest session in a folder uses, as a default for the next one there. */
  async lastChoice(folder: string): Promise<LastChoice> {
    const uri = this.#options.catalogue.newestIn(folder);
    const session = uri === undefined ? undefined : await this.open(uri);
    if (!session) return {};
    const { chat, state } = session;
    const lastMessage = chat.state.draft ?? (chat.state.activeTurn ?? chat.state.turns.at(-1))?.message;
    const model = lastMessage?.model?.id ?? session.selection.model?.id;
    const mode = chosenMode(chat.state, state.config?.values);
    return {
      provider: state.provider,
      ...(model !== undefined && { model }),
      ...(mode !== undefined && { config: { [MODE_PROPERTY]: mode } }),
    };
  }

  /** Disposed sessions that can be restored. */
  disposed(): DisposedSession[] {
    const { catalogue } = this.#options;
    return catalogue.disposed().flatMap(({ uri, at: disposedAt }) => {
      const { summary } = catalogue.find(uri) ?? {};
      return summary ? [{ summary, disposedAt }] : [];
    });
  }

  /**
   * The session with this URI, loaded into memory; undefined when it does not exist or was disposed. Waits for a
   * disposal that is being stored, so that the client's next message is answered after the news that the session is
   * gone.
   */
  open(uri: string): Promise<Session | undefined> {
    const ending = this.#ending.get(uri);
    return ending ? ending.then(() => this.#memory.open(uri)) : this.#memory.open(uri);
  }

  /** The chat with this URI, loaded into memory with its session; undefined when it does not exist. */
  async openChat(uri: string): Promise<Chat | undefined> {
    const sessionUri = this.#options.catalogue.chats.sessionUriOf(uri);
    const session = sessionUri === undefined ? undefined : await this.open(sessionUri);
    // While a chat is being stored, the index already has it, but its session does not.
    const isThere = session?.committed.chats.some(({ resource }) => resource === uri);
    return isThere ? session?.chatAt(uri) : undefined;
  }

  /** The annotations with this URI, loaded into memory with their session; undefined when they do not exist. */
  async openAnnotations(uri: string): Promise<Annotations | undefined> {
    const session = sessionOfAnnotations(uri);
    return session === undefined ? undefined : (await this.open(session))?.annotations;
  }

  /** The session of a channel, which is a session, one of its chats, or its annotations. */
  sessionUriOf(uri: string): string {
    return this.#options.catalogue.chats.sessionUriOf(uri) ?? sessionOfAnnotations(uri) ?? uri;
  }

  /** All chats of a stored session, the default one first. */
  chatsOf(session: string): readonly string[] {
    return [defaultChatUri(session), ...this.#options.catalogue.chats.chatsOf(session)];
  }

  /** Waits for a disposal of the session: its URI, and those of its chats, are in use until it ends. */
  async createChat(params: CreateChatParams): Promise<void> {
    await this.#ending.get(params.channel);
    await this.#chats.create(params);
  }

  disposeChat(uri: string): Promise<void> {
    return this.#chats.dispose(uri);
  }

  create(params: CreateSessionParams, creator: Creator): Promise<void> {
    return this.#creation.create(params, creator);
  }

  import(page: ImportPage, creator: Creator): Promise<void> {
    return this.#creation.import(page, creator);
  }

  async dispose(uri: string): Promise<void> {
    const disposal = this.#removal.dispose(uri);
    const ending = Promise.allSettled([disposal, this.#ending.get(uri)]);
    this.#ending.set(uri, ending);
    void ending.then(() => this.#ending.get(uri) === ending && this.#ending.delete(uri));
    await disposal;
  }

  restore(uri: string): Promise<void> {
    return this.#removal.restore(uri);
  }

  /** Removes what need not be kept any longer. */
  purge(): Promise<void> {
    return this.#removal.purge();
  }

  /** Recovers after a start: turns that a crash cut off end with errors that say so; sessions being created go on. */
  async recover(): Promise<void> {
    const { records, log, clock, logger, writer } = this.#options;
    const commands = new InterruptedCommands();
    await commands.load(log, clock);
    const handedOverTurns = await records.handedOverTurns();
    const failed = new Set<string>();
    for (const uri of await records.interrupted()) {
      await this.#recover(uri, commands, handedOverTurns).catch((error) => {
        failed.add(uri);
        logger.log('error', 'a session cannot be opened', { session: uri, error: String(error) });
      });
    }
    commands.forget(writer);
    // The next start tries again with those that could not be opened.
    for (const ownKey of handedOverTurns.keys())
      if (!failed.has(this.sessionUriOf(ownKey))) records.setHandedOverTurn(ownKey, undefined);
  }

  async #recover(
    uri: string,
    commands: InterruptedCommands,
    handedOverTurns: ReadonlyMap<string, string>,
  ): Promise<void> {
    const { records } = this.#options;
    const deferred = await records.deferred(uri);
    const session = await this.open(uri);
    if (!session) return records.setActive(uri, false);
    session.restoreDeferred(deferred);
    session.afterCrash(commands, handedOverTurns);
  }

  /** Archives the session of a channel; false when there is none. */
  async storeArchive(uri: string): Promise<boolean> {
    const session = await this.open(this.sessionUriOf(uri));
    if (session) await this.#memory.storeArchive(session);
    return session !== undefined;
  }

  /** Unloads a session, if it is idle. */
  unloadIfIdle(uri: string): Promise<void> {
    return this.#memory.unloadIfIdle(uri);
  }

  close(): Promise<void> {
    return this.#memory.close();
  }
}

/** How many entries after an archive are replayed in one slice. */
const REPLAY_SLICE_ENTRIES = 1_000;

interface Replayed<State> {
  readonly state: State;
  readonly lastTime: number;
  readonly isDamaged: boolean;
}

interface LoadedChat extends Replayed<ChatState> {
  readonly uri: string;
  /** The index of the state's first turn. */
  readonly base: number;
  /** How many turns the log has. */
  readonly archived: number;
}

interface LoadedParts {
  readonly chats: readonly LoadedChat[];
  readonly annotations: Replayed<AnnotationsState> | undefined;
}

export interface SessionsInMemoryOptions extends SharedSessionOptions {
  readonly agents: readonly AgentBackend[];
}

/** The sessions in memory: loaded when a client or a turn needs them, unloaded when none does. */
export class SessionsInMemory {
  readonly #options: SessionsInMemoryOptions;
  readonly #open = new Map<string, Session>();
  readonly #opening = new Map<string, Promise<Session | undefined>>();
  /** Unloaded sessions whose agents are still ending. */
  readonly #unloading = new Map<string, Promise<unknown>>();
  /** True when the host stops: a session must not be loaded again without its unstored actions. */
  #isClosed = false;

  constructor(options: SessionsInMemoryOptions) {
    this.#options = options;
  }

  get all(): ReadonlyMap<string, Session> {
    return this.#open;
  }

  /** The session with this URI; undefined when it does not exist or was disposed. */
  async open(uri: string): Promise<Session | undefined> {
    const present = this.#open.get(uri);
    if (present) return present.isClosed ? undefined : present;
    if (this.#isClosed || !this.#options.catalogue.isListed(uri)) return undefined;
    const loading = this.#opening.get(uri) ?? this.#load(uri).finally(() => this.#opening.delete(uri));
    this.#opening.set(uri, loading);
    return loading;
  }

  async #load(uri: string): Promise<Session | undefined> {
    const { log, catalogue, used } = this.#options;
    const stored = await log.openChannel(uri, 0);
    const archive = stored?.archive;
    const entry = await catalogue.restoredEntry(uri);
    if (!archive || !entry) return undefined;
    const head: SessionState = archive.isDamaged ? stateOf(entry) : JSON.parse(archive.head);
    const session = await replayed(head, stored.tail, sessionReducer);
    const chats = [];
    for (const summary of session.state.chats) chats.push(await this.#loadChat(summary, entry));
    const annotations = await this.#loadAnnotations(annotationsChannel(uri));
    if (this.#isClosed) return undefined;
    for (const { resource } of session.state.chats) {
      // The chat's record was damaged.
      if (catalogue.chats.sessionUriOf(resource) === undefined) catalogue.chats.set(resource, uri);
    }
    const opened = this.#adopt(uri, session, { chats, annotations });
    opened.dropAbsentClients();
    const parts = [archive, session, ...chats, annotations];
    if (parts.some((part) => part?.isDamaged)) afterDamage(opened);
    used(uri);
    return opened;
  }

  async #loadAnnotations(uri: string): Promise<Replayed<AnnotationsState> | undefined> {
    const { archive, tail = [] } = (await this.#options.log.openChannel(uri, 0)) ?? {};
    if (!archive && tail.length === 0) return undefined;
    const isLost = archive?.isDamaged === true;
    const head: AnnotationsState = archive && !isLost ? JSON.parse(archive.head) : NO_ANNOTATIONS;
    const annotations = await replayed(head, tail, annotationsReducer);
    return { ...annotations, isDamaged: isLost || annotations.isDamaged };
  }

  async #loadChat(listed: ChatSummary, { summary }: CatalogueEntry): Promise<LoadedChat> {
    const uri = listed.resource;
    const { archive, turns = [], tail = [] } = (await this.#options.log.openChannel(uri, TURNS_IN_MEMORY)) ?? {};
    const isLost = !archive || archive.isDamaged === true;
    const archived = archive?.turnCount ?? 0;
    const isDefault = uri === defaultChatUri(summary.resource);
    const lost = isDefault ? firstChat(summary.resource, summary.modifiedAt) : listedChat(listed);
    const head = isLost ? lost : ((await parseInSlices(archive.head)) as ChatState);
    const recent = await parsedTurns(turns.map(({ json }) => json));
    const chat = await replayed({ ...head, turns: recent }, tail, chatReducer);
    return { ...chat, uri, base: archived - turns.length, archived, isDamaged: isLost || chat.isDamaged };
  }

  #adopt(uri: string, { state, lastTime }: Replayed<SessionState>, parts: LoadedParts): Session {
    const { chats: loaded, annotations } = parts;
    const { agents, ...shared } = this.#options;
    const channel = new Channel<SessionState>(uri, sessionReducer, state, { lastTime });
    const chats = loaded.map((chat) => ({
      channel: new Channel<ChatState>(chat.uri, chatReducer, chat.state, {
        lastTime: Math.max(chat.lastTime, Date.parse(chat.state.modifiedAt) || 0),
      }),
      pages: new TurnPages(shared.log, chat.uri, chat),
    }));
    const backend = agents.find(({ info }) => info.provider === state.provider);
    const session = new Session({
      ...shared,
      channel,
      chats,
      annotations,
      backend,
      predecessor: this.#unloading.get(uri),
    });
    this.#open.set(uri, session);
    return session;
  }

  /** Archives a session, so that opening it needs nothing but its archive. */
  async storeArchive(session: Session): Promise<void> {
    session.storeArchive();
    await this.#options.writer.settled();
  }

  /** Unloads a session, if it is idle. */
  async unloadIfIdle(uri: string): Promise<void> {
    const session = this.#open.get(uri);
    if (!session?.isIdle) return;
    await this.storeArchive(session);
    const isWatched = [uri, session.annotations.uri, ...session.chats.map((chat) => chat.uri)].some((channel) =>
      this.#options.watchers.isWatched(channel),
    );
    if (session.isClosed || !session.isIdle || isWatched) return;
    await this.remove(session);
  }

  /** Takes a session out of memory. If it is loaded again soon, its agent waits until the previous one has ended. */
  async remove(session: Session): Promise<void> {
    const { uri } = session;
    this.#open.delete(uri);
    const left = Promise.all([session.close(), this.#unloading.get(uri)]);
    this.#unloading.set(uri, left);
    await left;
    if (this.#unloading.get(uri) === left) this.#unloading.delete(uri);
  }

  /** Unloads all sessions, and loads none from now on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open.values()].map((session) => this.remove(session)));
    await Promise.all(this.#unloading.values());
  }
}

/** The state after all entries stored since its archive. */
async function replayed<State>(
  archived: State,
  tail: readonly LogEntry[],
  reduce: (state: State, action: StateAction) => State,
): Promise<Replayed<State>> {
  let state = archived;
  let isDamaged = false;
  for (const [index, entry] of tail.entries()) {
    if (index > 0 && index % REPLAY_SLICE_ENTRIES === 0) await nextSlice();
    if (entry.isDamaged) isDamaged = true;
    else state = reduce(state, JSON.parse(entry.action));
  }
  return { state, lastTime: tail.at(-1)?.time ?? 0, isDamaged };
}

export type RemovalOptions = Omit<CreationOptions, 'choices' | 'agents'>;

/** Disposes sessions, restores them, and finally forgets them. */
export class Removal {
  readonly #options: RemovalOptions;

  constructor(
    options: RemovalOptions,
    private readonly chats: ChatCreation,
  ) {
    this.#options = options;
  }

  /** Takes a session off the list. Its history stays stored, and can be restored for a while. */
  async dispose(uri: string): Promise<void> {
    const { watchers, memory, news } = this.#options;
    const session = await memory.open(uri);
    if (!session || session.isClosed) {
      throw new RequestError(ErrorCode.SessionNotFound, `there is no session ${uri}`);
    }
    await session.dispose();
    news.removed(uri);
    for (const chat of session.chats) watchers.unsubscribeAll(chat.uri);
    watchers.unsubscribeAll(session.annotations.uri);
    watchers.unsubscribeAll(uri);
    void memory.remove(session);
  }

  /** Puts a disposed session back on the list. If it was still being created, that goes on. */
  async restore(uri: string): Promise<void> {
    const { writer, catalogue, records, memory, news, reserved } = this.#options;
    const entry = catalogue.find(uri);
    if (entry?.disposedAt === undefined || reserved.has(uri)) {
      throw new RequestError(ErrorCode.SessionNotFound, `no disposed session ${uri} is kept`);
    }
    const { summary, lifecycle } = entry;
    const isNew = lifecycle === 'creating';
    await reserved.during(uri, () => {
      catalogue.set(uri, { summary, lifecycle });
      records.setActive(uri, isNew);
      return writer.settled();
    });
    news.added(summary);
    if (isNew) (await memory.open(uri))?.create();
  }

  /** Forgets sessions that were disposed long ago, and what is left of unfinished ones. */
  async purge(): Promise<void> {
    const { clock, catalogue, records, reserved } = this.#options;
    await this.chats.purge();
    const now = clock.now();
    const isOld = (at: number | undefined) => at !== undefined && at < now - DISPOSED_KEPT_MS;
    const disposed = catalogue.disposed().filter(({ at }) => isOld(at));
    const unfinished = (await records.unfinished()).filter(({ since }) => since < now - UNFINISHED_KEPT_MS);
    for (const { uri } of [...disposed, ...unfinished]) {
      // A client may have restored it by now, or continued its import.
      const entry = catalogue.find(uri);
      if (reserved.has(uri) || (entry && !isOld(entry.disposedAt))) continue;
      await reserved.during(uri, () => this.#forget(uri));
    }
  }

  /**
   * Forgets a session. The records that say it has to go are removed last: if something fails before that, the next
   * round begins again.
   */
  async #forget(uri: string): Promise<void> {
    const { services, writer, catalogue, records, log } = this.#options;
    for (const chat of catalogue.chats.storedFor(uri)) await this.chats.forgetStored(chat);
    await log.forget(defaultChatUri(uri));
    await log.forget(annotationsChannel(uri));
    await log.forget(uri);
    for (const service of services) await this.#notify(service, uri);
    catalogue.remove(uri);
    records.forget(uri);
    await writer.settled();
  }

  /** Tells a service. If it fails, the rest is still forgotten. */
  async #notify(service: Service, uri: string): Promise<void> {
    try {
      await service.forgotten?.(uri);
    } catch (error) {
      const { logger } = this.#options;
      logger.log('warn', 'could not remove everything of a forgotten session', { session: uri, error: String(error) });
    }
  }
}
