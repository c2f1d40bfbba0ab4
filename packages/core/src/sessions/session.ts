/**
 * One session in memory: its channel, its chats, and everything that follows from an action on it. The state of a session says
 * which chats there are and what waits in them; the conversations are on the channels of the chats.
 */
import {
  annotationsChannel,
  isMcpServerAction,
  isPinned,
  isStanding,
  type ModelSelection,
  privateMembersOf,
  SELECTION_CHANGED,
  type SelectionChangedAction,
  type SessionAction,
  type SessionSelection,
  type SessionState,
  SessionStatus,
  type StateAction,
  selectionAction,
  selectionOf,
  sessionReducer,
  type UsageInfo,
  withPinned,
  withServerEntry,
  withShownClient,
} from '@atrium/protocol/ahp-1';
import type { Channel, Step } from '../channels/channel.js';
import type { ActionSender, ChannelSnapshot, OpenChannel } from '../channels/open-channel.js';
import type { RootChannel } from '../channels/root-channel.js';
import type { Writer } from '../channels/writer.js';
import type { AgentAbilities, AgentBackend } from '../contracts/agent.js';
import type { BlobStore } from '../contracts/blobs.js';
import type { Extension } from '../contracts/extension.js';
import type { FolderPlaces } from '../contracts/folder-places.js';
import type { Deferrals, Presence, Watchers } from '../contracts/ports.js';
import type { TelemetryReports } from '../contracts/telemetry.js';
import type { HostTool } from '../contracts/tool.js';
import type { EntryOrigin, Log } from '../log/log.js';
import type { PermissionStore } from '../permissions/store.js';
import type { InputReferences } from '../tool-calls/input-references.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import { Annotations, type AnnotationsOptions } from './annotations.js';
import type { Catalogue } from './catalogue.js';
import { Chat, type ChatOptions } from './chat.js';
import { errorInfo } from './chat-agent.js';
import type { WorkerChat } from './chat-creation.js';
import { unknownModel } from './creation.js';
import { CreationProgress, type TellProgress } from './creation-progress.js';
import { type DeferredAction, DeferredActions } from './deferred-actions.js';
import { Extensions } from './extensions.js';
import { IdleProcesses } from './idle.js';
import { inputNeededActions, mayChangeNeeded } from './input-needed.js';
import { Plans } from './plans.js';
import { StandingRequests } from './questions.js';
import { afterCrash, afterLoss } from './recovery.js';
import type { InterruptedCommands } from './running-commands.js';
import type { Service } from './service.js';
import { type AttachObserver, type ChatStep, SessionObservers } from './session-observer.js';
import { SessionPermissions } from './session-permissions.js';
import { Naming, type SessionRecords, ToolPermissions } from './session-records.js';
import { containerOfToggled, type DispatchedAction, mustWait, sessionRefusal } from './session-rules.js';
import { chatSummaryOf, listedChanges, summaryOf } from './session-summary.js';

/** What all sessions of a host have in common. */
export interface SharedSessionOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly writer: Writer;
  readonly telemetry: TelemetryReports;
  readonly presence: Presence;
  readonly watchers: Watchers;
  readonly deferrals: Deferrals;
  /** Where large results are stored; undefined on a host without a folder for them. */
  readonly blobs: BlobStore | undefined;
  /** Whether text that follows quickly becomes one action. */
  readonly joinsText: boolean;
  /** How many characters of one tool result a model reads. */
  readonly toolOutputMaxCharacters: number;
  /** Which tool input clients get by reference. */
  readonly inputs: InputReferences;
  readonly services: readonly Service[];
  readonly root: RootChannel;
  readonly log: Log;
  readonly catalogue: Catalogue;
  readonly records: SessionRecords;
  /** Rules of the host, the person and projects; undefined on a host that keeps none. */
  readonly permissions: PermissionStore | undefined;
  /** Undefined where every folder is here. */
  readonly folderPlaces: FolderPlaces | undefined;
  readonly tools: readonly HostTool[];
  /** What every session is extended by. */
  readonly extensions: readonly Extension[];
  /** How long the processes of a session outlive its last turn; `Infinity` leaves them alive. */
  readonly restProcessesAfterMs: number;
  /** What lives beside every session. */
  readonly observers: readonly AttachObserver[];
  /** Opens and removes the chats of workers. */
  readonly workerChats: WorkerChats;
  /** Opens a channel again that has left memory. */
  open(uri: string): Promise<OpenChannel | undefined>;
  /** A session was used: it may leave memory after a while. */
  used(uri: string): void;
}

export interface WorkerChats {
  /** In this tick. */
  open(session: Session, chat: WorkerChat, parts: Partial<NewChat>): Chat;
  remove(session: Session, chat: Chat): Promise<void>;
}

export interface SessionOptions extends SharedSessionOptions {
  readonly channel: Channel<SessionState>;
  readonly backend: AgentBackend | undefined;
  /** When the session was in memory before, this is over when it has left: two agents must not work on one session. */
  readonly predecessor: Promise<unknown> | undefined;
  /** Its annotations as they are stored; undefined when it never had any. */
  readonly annotations?: AnnotationsOptions['stored'];
  /** The default chat comes first. */
  readonly chats: readonly NewChat[];
}

/** What a chat is made of. */
export type NewChat = Pick<ChatOptions, 'channel' | 'pages' | 'worker'>;

/** An agent with tools of its own for files and commands is not offered the host's. */
export function offeredBuiltins({ backend, tools }: Pick<SessionOptions, 'backend' | 'tools'>): readonly HostTool[] {
  return backend?.abilities.ownTools ? [] : tools;
}

const GETTING_READY = 'Starting what the session needs: plugins, MCP servers, providers';

/** What a person who has read the session has not read. */
const UNREAD: ReadonlySet<string> = new Set(['chat/turnStarted', 'chat/turnResume', 'chat/inputRequested']);

export class Session implements OpenChannel {
  readonly #options: SessionOptions;
  readonly #deferred: DeferredActions;
  readonly #processes: IdleProcesses;
  readonly #chats = new Map<string, Chat>();
  /** It left memory or was disposed: nothing more happens here. */
  #isClosed = false;
  /** Tools that a person allowed for the rest of this session. */
  readonly toolPermissions: ToolPermissions;
  /** What rules say about its calls. */
  readonly permissions: SessionPermissions;
  /** Whose title it has. */
  readonly naming: Naming;
  /** The extensions that add tools, gates or prompt text to it. */
  readonly extensions: Extensions;
  /** Questions to people that outlive turns. */
  readonly standing: StandingRequests;
  /** The agents' lists of tasks. */
  readonly plans: Plans;
  /** Notes on files. */
  readonly annotations: Annotations;
  readonly #observers: SessionObservers;
  #closing: Promise<void> | undefined;
  #beginning: Promise<void> | undefined;
  /** Of its creation, while a client wants to know. */
  #progress: CreationProgress | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#deferred = new DeferredActions(options);
    const { clock, logger } = options;
    this.#processes = new IdleProcesses({
      ...{ clock, logger, session: options.channel.uri, restAfterMs: options.restProcessesAfterMs },
      isBusy: () => this.#isNeeded,
      end: async () => void (await Promise.all([...this.chats.map((chat) => chat.rest()), this.#observers.rest()])),
    });
    for (const made of options.chats) this.#chats.set(made.channel.uri, this.#chatOf(made));
    this.standing = new StandingRequests({
      chat: this.chat,
      write: (action) => this.write(action),
      state: () => this.state,
      isNoteNeeded: () => options.watchers.isWatchedWithoutQuestions(this.uri),
    });
    this.plans = new Plans({
      state: () => this.state,
      write: (action) => this.write(action),
      isChat: (uri) => this.#chats.has(uri),
    });
    this.annotations = new Annotations({
      ...{ session: this.uri, writer: options.writer, stored: options.annotations },
      isChat: (uri) => this.#chats.has(uri),
      changed: () => this.#list(options.clock.now()),
      isClosed: () => this.#isClosed,
      reopen: () => options.open(annotationsChannel(this.uri)),
    });
    this.toolPermissions = new ToolPermissions(options.records, options.channel.uri);
    this.permissions = new SessionPermissions({
      uri: options.channel.uri,
      state: () => this.state,
      kept: this.toolPermissions,
      store: options.permissions,
    });
    this.naming = new Naming(options.records, options.channel.uri);
    this.extensions = new Extensions({
      builtins: offeredBuiltins(options),
      standing: options.extensions,
      state: () => this.state,
      write: (action) => this.write(action),
      clock: options.clock,
    });
    const observers = options.observers.map((attach) => attach(this));
    this.#observers = new SessionObservers(observers, options.logger);
  }

  #chatOf(made: NewChat): Chat {
    const readiness = { prepare: () => this.#begin(), isResting: () => this.#processes.isResting };
    return new Chat(this, { ...this.#options, ...made }, readiness);
  }

  /** Takes in a new chat: it is listed and stored with this tick. */
  adopt(made: NewChat): Chat {
    const chat = this.#chatOf(made);
    this.#chats.set(chat.uri, chat);
    this.#options.writer.afterFailure(() => {
      chat.leave();
      this.#chats.delete(chat.uri);
      void chat.close();
    });
    this.write({ type: 'session/chatAdded', summary: chatSummaryOf(chat.state) });
    this.storeArchive([chat]);
    return chat;
  }

  /** A chat leaves with this tick; its turn is cancelled. */
  drop(chat: Chat): void {
    const { activeTurn } = chat.state;
    if (activeTurn) chat.write({ type: 'chat/turnCancelled', turnId: activeTurn.id, duration: 0 });
    for (const { id, chat: of } of this.state.inputNeeded ?? [])
      if (of === chat.uri) this.write({ type: 'session/inputNeededRemoved', id });
    const comesBack = chat.leave();
    this.#chats.delete(chat.uri);
    this.#options.writer.afterFailure(() => {
      comesBack();
      this.#chats.set(chat.uri, chat);
    });
    this.write({ type: 'session/chatRemoved', chat: chat.uri });
    // What is archived must not list it: when the entry of its removal is damaged, nothing else says that it is gone.
    this.storeArchive([]);
  }

  get uri(): string {
    return this.#options.channel.uri;
  }

  get channel(): Channel {
    return this.#options.channel as unknown as Channel;
  }

  get state(): SessionState {
    return this.#options.channel.live;
  }

  get committed(): SessionState {
    return this.#options.channel.committed;
  }

  get chats(): readonly Chat[] {
    return [...this.#chats.values()];
  }

  /** The default chat: what older wires show as the conversation of the session. */
  get chat(): Chat {
    const [first] = this.#chats.values();
    const chat = this.#chats.get(this.state.defaultChat ?? '') ?? first;
    if (!chat) throw new Error(`${this.uri} has no chat`);
    return chat;
  }

  chatAt(uri: string): Chat | undefined {
    return this.#chats.get(uri);
  }

  /** The model and the agent of messages that name none themselves. */
  get selection(): SessionSelection {
    return selectionOf(this.state._meta);
  }

  /** Whether a crash now would cut something off. */
  get isAtWork(): boolean {
    return this.state.lifecycle === 'creating' || this.chats.some(({ state }) => state.activeTurn !== undefined);
  }

  #isAtWorkBeside(chat: Chat): boolean {
    const others = this.chats.filter((other) => other !== chat);
    return this.state.lifecycle === 'creating' || others.some(({ state }) => state.activeTurn !== undefined);
  }

  /** Whether it can leave memory: nothing runs, nothing waits to be stored. */
  get isIdle(): boolean {
    const isSettled = this.#options.channel.isSettled && this.annotations.isSettled;
    const isBusy = this.chats.some((chat) => chat.isBusy) || !isSettled;
    return !this.isAtWork && !isBusy && this.#deferred.isEmpty && !this.#observers.keepAwake;
  }

  /** What its agent can do; undefined when the host does not have that agent. */
  get abilities(): AgentAbilities | undefined {
    return this.#options.backend?.abilities;
  }

  /** Its agent; undefined when the host does not have that agent. */
  /** The agent's model was asked something beside the turns. */
  spent(usage: UsageInfo): void {
    if (!this.isClosed) this.#observers.spent(usage);
  }

  get backend(): AgentBackend | undefined {
    return this.#options.backend;
  }

  get isDisposed(): boolean {
    return this.#options.catalogue.find(this.uri)?.disposedAt !== undefined;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Takes an action, the host's own or a client's, and does what follows from it. */
  write(given: SessionAction, origin?: EntryOrigin): void {
    if (this.#isClosed) return;
    const action = this.#marked(given);
    const wasAtWork = this.isAtWork;
    const step = this.#options.writer.write({ channel: this.#options.channel, action, origin });
    this.#note(step, wasAtWork);
    this.naming.observe(action, origin);
    this.#observers.observe(step);
    // No client waits for it.
    if (action.type === 'session/isArchivedChanged' && action.isArchived) queueMicrotask(() => this.#processes.rest());
    const container = containerOfToggled(action, step.after);
    if (container) this.write({ type: 'session/customizationUpdated', customization: container });
    if (action.type === 'session/activeClientSet') {
      this.#options.writer.afterCommit(() => this.chats.forEach((chat) => void chat.clientsChanged()));
    }
    this.#leaveFolders(action);
    if (action.type === 'session/ready') for (const chat of this.chats) chat.startQueued();
    if (action.type === 'session/inputNeededSet' && isStanding(action.request) && !privateMembersOf(action).shown) {
      this.#markUnread();
    }
  }

  /** A chat works in no folder that its session has given up. */
  #leaveFolders(action: SessionAction): void {
    if (action.type !== 'session/workingDirectoryRemoved' && action.type !== 'session/workingDirectoryReplaced') return;
    const { directory } = action;
    for (const chat of this.chats.filter(({ state }) => state.workingDirectories?.includes(directory))) {
      chat.write({ type: 'chat/workingDirectoryRemoved', directory });
      if (action.type === 'session/workingDirectoryReplaced')
        chat.write({ type: 'chat/workingDirectorySet', directory: action.replacement });
    }
  }

  /** Something happened that a person should see. */
  #markUnread(): void {
    if (this.state.status & SessionStatus.IsRead) this.write({ type: 'session/isReadChanged', isRead: false });
  }

  /** Older wires show one active client, and entries as a whole: the action says which one that is, and how the entry is. */
  #marked(action: SessionAction): SessionAction {
    if (isMcpServerAction(action)) return withServerEntry(action, sessionReducer(this.state, action));
    if (action.type !== 'session/activeClientSet' && action.type !== 'session/activeClientRemoved') return action;
    return withShownClient(action, this.state, sessionReducer(this.state, action));
  }

  /** A chat took an action: the session lists what changed of it, and what waits in it now. */
  chatStepped(step: ChatStep, type: string): void {
    // Most actions are text of a running turn, and change nothing that a session shows.
    if (type === 'chat/delta' || type === 'chat/reasoning') return this.#observers.observe(step);
    const { chat, before, after } = step;
    if (type === 'chat/turnStarted') this.extensions.tell();
    if (type === 'chat/truncated') this.plans.truncated(chat.uri, before, after);
    const wasAtWork = this.#isAtWorkBeside(chat) || before.activeTurn !== undefined;
    const changes = listedChanges(before, after);
    if (changes) this.write({ type: 'session/chatUpdated', chat: chat.uri, changes });
    if (chat === this.chat && before.activity !== after.activity) {
      this.write({ type: 'session/activityChanged', activity: after.activity });
    }
    if (mayChangeNeeded(type)) for (const action of inputNeededActions(this.state, after)) this.write(action);
    if (UNREAD.has(type)) this.#markUnread();
    this.#noteWork(wasAtWork);
    this.standing.observe(step);
    this.#observers.observe(step);
    if (before.activeTurn && !after.activeTurn && !this.isAtWork) this.#processes.used();
  }

  /** Damage on disk may have hit a chat, or what is listed of it here: the chat is right. */
  relist(): void {
    for (const { uri, state } of this.chats) {
      const listed = this.state.chats.find(({ resource }) => resource === uri);
      const changes = listed && listedChanges(listed, state);
      if (changes) this.write({ type: 'session/chatUpdated', chat: uri, changes });
      for (const action of inputNeededActions(this.state, state)) this.write(action);
    }
    const { activity } = this.chat.state;
    if (activity !== this.state.activity) this.write({ type: 'session/activityChanged', activity });
    // Annotations may be lost, and the list counts them.
    this.#list(undefined);
  }

  /** The turn of a chat is over: what waited for that happens now. */
  turnEnded(chat: Chat): void {
    if (chat === this.chat) this.#deferred.release((action, origin) => this.#select(action, origin));
  }

  #select(action: SelectionChangedAction, origin?: EntryOrigin): void {
    this.write(selectionAction(this.state, action), origin);
  }

  /** Chooses the model or the agent of messages that name none themselves. */
  select(choice: Omit<SelectionChangedAction, 'type'>): void {
    this.#select({ type: SELECTION_CHANGED, ...choice });
  }

  /** Pins it above others in every list, or no longer. */
  pin(pinned: boolean): void {
    if (isPinned(this.state) !== pinned)
      this.write({ type: 'session/metaChanged', _meta: withPinned(this.state._meta, pinned) });
  }

  /** Whether its processes have something to do, or will have when a person answers. */
  get #isNeeded(): boolean {
    const { inputNeeded = [] } = this.state;
    return this.isAtWork || this.chats.some(({ isOpening }) => isOpening) || inputNeeded.length > 0;
  }

  /** What lives beside the session gets ready before an agent of it opens. Chats that open at the same time share it. */
  #begin(): Promise<void> {
    this.#beginning ??= this.#getReady().finally(() => {
      this.#beginning = undefined;
    });
    return this.#beginning;
  }

  async #getReady(): Promise<void> {
    await this.#processes.wake();
    this.extensions.changed();
    const progress = this.#progress;
    const report = (message: string) => progress?.says(message);
    report('Preparing the folder');
    await this.#observers.prepareFolder(report);
    progress?.finished(GETTING_READY);
    const begun = this.#observers.begin(report, () => progress?.finished(GETTING_READY));
    await Promise.all([this.toolPermissions.load(), this.naming.load(), begun]);
    report(`Opening ${this.backend?.info.displayName ?? 'the agent'}`);
  }

  /** The host stopped while the session was at work. */
  afterCrash(commands: InterruptedCommands): void {
    afterCrash(this, this.#options, commands);
  }

  /** Actions that the host wrote here, or in one of its chats, could not be stored. */
  afterLoss(actions: readonly StateAction[]): void {
    afterLoss(this, this.#options, actions);
  }

  /** A client is no active client any more; false when it was none. */
  dropClient(clientId: string): boolean {
    if (!this.state.activeClients.some((client) => client.clientId === clientId)) return false;
    this.write({ type: 'session/activeClientRemoved', clientId });
    return true;
  }

  /** Clients that are not connected are no active clients any more. */
  dropAbsentClients(): void {
    for (const { clientId } of this.state.activeClients) {
      if (!this.#options.presence.isConnected(clientId)) this.write({ type: 'session/activeClientRemoved', clientId });
    }
  }

  /** Something that the host wrote here could not be stored. */
  lost(): void {
    this.standing.lost();
    this.#observers.lost();
  }

  /** Keeps the list of sessions true, in the same tick. */
  #note({ before, after }: Step<SessionState>, wasAtWork: boolean): void {
    if (before !== after) this.#list(before.title === after.title ? undefined : this.#options.clock.now());
    this.#noteWork(wasAtWork);
  }

  #noteWork(wasAtWork: boolean): void {
    if (wasAtWork !== this.isAtWork) this.#options.records.setActive(this.uri, this.isAtWork);
  }

  /** Lists the session as it is now. */
  #list(touchedAt: number | undefined, disposedAt?: number): void {
    const { catalogue } = this.#options;
    const { lifecycle } = this.state;
    const known = catalogue.current(this.uri);
    const chats = this.chats.map(({ state }) => state);
    const createdAt = known?.summary.createdAt ?? new Date(this.#options.clock.now()).toISOString();
    const times = [known?.summary.modifiedAt ?? createdAt, ...chats.map(({ modifiedAt }) => modifiedAt)];
    if (touchedAt !== undefined) times.push(new Date(touchedAt).toISOString());
    const modifiedAt = times.reduce((latest, time) => (time > latest ? time : latest));
    const { summary: annotations } = this.annotations;
    const summary = summaryOf({ ...this.state, annotations }, chats, { resource: this.uri, createdAt, modifiedAt });
    catalogue.set(this.uri, { summary, lifecycle, ...(disposedAt !== undefined && { disposedAt }) });
  }

  async dispatch(given: StateAction, origin: EntryOrigin, asker: ActionSender): Promise<void> {
    const action = given as DispatchedAction;
    if (this.#isClosed) return (await this.#options.open(this.uri))?.dispatch(given, origin, asker);
    const facts = { state: this.state, clientId: origin.clientId, agent: this.backend?.info };
    const isSelection = action.type === SELECTION_CHANGED;
    const reason = sessionRefusal(action, facts) ?? (isSelection ? this.unknownModel(action.model) : undefined);
    if (reason) return asker.reject(origin, reason);
    if (!isSelection) return this.write(action as SessionAction, origin);
    if (!mustWait(action) || !this.chat.state.activeTurn) return this.#select(action, origin);
    if (!this.#deferred.isFull) return this.#deferred.defer(action, origin, asker);
    return asker.reject(origin, 'too many changes wait for the end of the turn');
  }

  /** Why the agent cannot work with a model; undefined when it can. */
  unknownModel(model: ModelSelection | undefined): string | undefined {
    const { backend } = this.#options;
    return backend && unknownModel(backend.info, model);
  }

  answerDeferred(origin: EntryOrigin, asker: ActionSender): void {
    if (this.#deferred.has(origin)) asker.deferred(origin);
  }

  takeSnapshot(): ChannelSnapshot | undefined {
    if (this.#isClosed) return undefined;
    // No action of a session says how many annotations it has: clients count those on their channel.
    const state = { ...this.committed, annotations: this.annotations.committedSummary };
    return { snapshot: { resource: this.uri, state, fromSeq: this.#options.writer.shown } };
  }

  /** Stores its state and those of chats as they are at the end of this tick, so that opening them needs no replay. */
  storeArchive(chats: readonly Chat[] = this.chats): void {
    const { writer, channel } = this.#options;
    writer.storeArchive(channel.uri, () => ({
      channel: channel.uri,
      head: JSON.stringify(channel.live),
      turns: { start: 0, items: [] },
    }));
    for (const chat of chats) chat.storeArchive();
    this.annotations.storeArchive();
  }

  /** Starts the agent of a new session. The outcome shows in the state. */
  create(tell?: TellProgress): void {
    // The folder, what lives beside the session, and the agent.
    const progress = tell && new CreationProgress(this.#observers.count + 2, tell);
    if (this.#isClosed) return progress?.end('The session is gone');
    this.#progress = progress;
    this.chat.openAgent().then(
      () => {
        this.write({ type: 'session/ready' });
        progress?.end('Ready');
      },
      (error) => {
        this.write({ type: 'session/creationFailed', error: errorInfo(error) });
        progress?.end('The session could not be created');
      },
    );
  }

  /** Whether an action still waits for the end of the turn: its client will hear of it. */
  isDeferring(origin: EntryOrigin): boolean {
    return this.#deferred.has(origin);
  }

  /** What waited for the end of a turn when the host stopped waits again, unless damage has ended that turn. */
  restoreDeferred(deferred: readonly DeferredAction[]): void {
    this.#deferred.restore(deferred);
    if (!this.chat.state.activeTurn) this.turnEnded(this.chat);
  }

  /** Takes it off the list. Nothing more happens here from now on, unless this could not be stored. */
  async dispose(): Promise<void> {
    const { clock, writer, records } = this.#options;
    for (const chat of this.chats) {
      const { activeTurn } = chat.state;
      if (activeTurn) chat.write({ type: 'chat/turnCancelled', turnId: activeTurn.id, duration: 0 });
    }
    this.storeArchive();
    records.setActive(this.uri, false);
    this.#list(undefined, clock.now());
    this.extensions.close();
    this.#isClosed = true;
    await writer.settled().catch((error) => {
      this.#isClosed = false;
      this.extensions.changed();
      throw error;
    });
  }

  /** Ends the agents; the state is left to the caller. */
  close(): Promise<void> {
    for (const chat of this.chats) chat.flushText();
    this.#isClosed = true;
    this.#processes.stop();
    this.extensions.close();
    const chats = this.chats.map((chat) => chat.close());
    this.#closing ??= Promise.all([...chats, this.#observers.close()]).then(() => {});
    return this.#closing;
  }
}
