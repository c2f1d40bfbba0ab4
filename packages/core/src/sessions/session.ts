/**
 * One session in memory: its channel, its chats, and what follows from each action on it. The session's state says
 * which chats exist and what waits in them; the conversations are on the channels of the chats.
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
import type { SessionPrograms } from '../contracts/session-programs.js';
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
import { CreationProgress, type ReportProgress } from './creation-progress.js';
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
import type { TurnStarts } from './turn-starts.js';

/** Options that all sessions of a host share. */
export interface SharedSessionOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly writer: Writer;
  readonly telemetry: TelemetryReports;
  readonly turnStarts: TurnStarts;
  readonly presence: Presence;
  readonly watchers: Watchers;
  readonly deferrals: Deferrals;
  /** Stores large results; undefined when the host has no folder for them. */
  readonly blobs: BlobStore | undefined;
  /** Joins text that follows quickly into one action. */
  readonly joinsText: boolean;
  /** How many characters of one tool result a model reads. */
  readonly toolOutputMaxCharacters: number;
  /** Decides which tool input clients get by reference. */
  readonly inputs: InputReferences;
  readonly services: readonly Service[];
  readonly root: RootChannel;
  readonly log: Log;
  readonly catalogue: Catalogue;
  readonly records: SessionRecords;
  /** Rules of the host, the person and projects; undefined when the host keeps none. */
  readonly permissions: PermissionStore | undefined;
  /** Undefined when all folders are on this host. */
  readonly folderPlaces: FolderPlaces | undefined;
  /** Undefined when all programs run on this machine. */
  readonly programs: SessionPrograms | undefined;
  readonly tools: readonly HostTool[];
  /** The extensions of every session. */
  readonly extensions: readonly Extension[];
  /** How long the processes of a session outlive its last turn; `Infinity` keeps them running. */
  readonly suspendProcessesAfterMs: number;
  /** The observers of every session. */
  readonly observers: readonly AttachObserver[];
  /** Opens and removes the chats of workers. */
  readonly workerChats: WorkerChats;
  /** Opens a channel again after it has left memory. */
  open(uri: string): Promise<OpenChannel | undefined>;
  /** Called when a session was used: it may leave memory after a while. */
  used(uri: string): void;
}

export interface WorkerChats {
  /** Opens a chat in this tick. */
  open(session: Session, chat: WorkerChat, parts: Partial<NewChat>): Chat;
  remove(session: Session, chat: Chat): Promise<void>;
}

export interface SessionOptions extends SharedSessionOptions {
  readonly channel: Channel<SessionState>;
  readonly backend: AgentBackend | undefined;
  /** Settles when an earlier instance of this session has left memory: two agents must not work on one session. */
  readonly predecessor: Promise<unknown> | undefined;
  /** Its stored annotations; undefined when it never had any. */
  readonly annotations?: AnnotationsOptions['stored'];
  /** All chats, the default one first. */
  readonly chats: readonly NewChat[];
}

/** What a chat is made of. */
export type NewChat = Pick<ChatOptions, 'channel' | 'pages' | 'worker'>;

/** The host's tools for an agent; none when it has its own tools for files and commands. */
export function offeredBuiltins({ backend, tools }: Pick<SessionOptions, 'backend' | 'tools'>): readonly HostTool[] {
  return backend?.abilities.ownTools ? [] : tools;
}

const GETTING_READY = 'Starting what the session needs: plugins, MCP servers, providers';

/** Actions that make a session unread again. */
const UNREAD: ReadonlySet<string> = new Set(['chat/turnStarted', 'chat/turnResume', 'chat/inputRequested']);

export class Session implements OpenChannel {
  readonly #options: SessionOptions;
  readonly #deferred: DeferredActions;
  readonly #processes: IdleProcesses;
  readonly #chats = new Map<string, Chat>();
  /** True once the session has left memory or was disposed: it takes no further actions. */
  #isClosed = false;
  /** Tools that a person allowed for the rest of this session. */
  readonly toolPermissions: ToolPermissions;
  /** What rules say about its calls. */
  readonly permissions: SessionPermissions;
  /** Who chose its title. */
  readonly naming: Naming;
  /** The extensions that add tools, gates or prompt text to it. */
  readonly extensions: Extensions;
  /** Questions to people that outlive turns. */
  readonly standing: StandingRequests;
  /** The task lists of its agents. */
  readonly plans: Plans;
  /** Notes on files. */
  readonly annotations: Annotations;
  readonly #observers: SessionObservers;
  #closing: Promise<void> | undefined;
  #beginning: Promise<void> | undefined;
  /** Progress of its creation, while a client wants it. */
  #progress: CreationProgress | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#deferred = new DeferredActions(options);
    const { clock, logger } = options;
    this.#processes = new IdleProcesses({
      ...{ clock, logger, session: options.channel.uri, suspendAfterMs: options.suspendProcessesAfterMs },
      isBusy: () => this.#isNeeded,
      end: async () =>
        void (await Promise.all([...this.chats.map((chat) => chat.suspend()), this.#observers.suspend()])),
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
    const readiness = { prepare: () => this.#begin(), isSuspended: () => this.#processes.isSuspended };
    return new Chat(this, { ...this.#options, ...made }, readiness);
  }

  /** Adds a new chat: it is listed and stored with this tick. */
  adopt(made: NewChat): Chat {
    const chat = this.#chatOf(made);
    this.#chats.set(chat.uri, chat);
    this.#options.writer.afterFailure(() => {
      chat.handOver();
      this.#chats.delete(chat.uri);
      void chat.close();
    });
    this.write({ type: 'session/chatAdded', summary: chatSummaryOf(chat.state) });
    this.storeArchive([chat]);
    return chat;
  }

  /** Removes a chat with this tick; its turn is cancelled. */
  drop(chat: Chat): void {
    const { activeTurn } = chat.state;
    if (activeTurn) chat.write({ type: 'chat/turnCancelled', turnId: activeTurn.id, duration: 0 });
    for (const { id, chat: of } of this.state.inputNeeded ?? [])
      if (of === chat.uri) this.write({ type: 'session/inputNeededRemoved', id });
    const comesBack = chat.handOver();
    this.#chats.delete(chat.uri);
    this.#options.writer.afterFailure(() => {
      comesBack();
      this.#chats.set(chat.uri, chat);
    });
    this.write({ type: 'session/chatRemoved', chat: chat.uri });
    // Archive the list without the chat: if the entry of its removal is damaged, nothing else would say that it is
    // gone.
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

  /** The default chat, which older wires show as the conversation of the session. */
  get chat(): Chat {
    const [first] = this.#chats.values();
    const chat = this.#chats.get(this.state.defaultChat ?? '') ?? first;
    if (!chat) throw new Error(`${this.uri} has no chat`);
    return chat;
  }

  chatAt(uri: string): Chat | undefined {
    return this.#chats.get(uri);
  }

  /** The model and the agent for messages that name none. */
  get selection(): SessionSelection {
    return selectionOf(this.state._meta);
  }

  /** True when a crash now would cut something off. */
  get isAtWork(): boolean {
    return this.state.lifecycle === 'creating' || this.chats.some(({ state }) => state.activeTurn !== undefined);
  }

  /** True when this host works on it. A turn that is left to the next host is not this host's work. */
  get isWorkedOnHere(): boolean {
    const isWorking = ({ state, isHandedOver }: Chat) => state.activeTurn !== undefined && !isHandedOver;
    return this.state.lifecycle === 'creating' || this.chats.some(isWorking);
  }

  #isAtWorkBeside(chat: Chat): boolean {
    const others = this.chats.filter((other) => other !== chat);
    return this.state.lifecycle === 'creating' || others.some(({ state }) => state.activeTurn !== undefined);
  }

  /** True when the session can leave memory: nothing runs, and nothing waits to be stored. */
  get isIdle(): boolean {
    const isSettled = this.#options.channel.isSettled && this.annotations.isSettled;
    const isBusy = this.chats.some((chat) => chat.isBusy) || !isSettled;
    return !this.isAtWork && !isBusy && this.#deferred.isEmpty && !this.#observers.keepAwake;
  }

  /** Ends its processes now, if the session is idle; otherwise when it has been idle for a while. */
  suspendProcesses(): void {
    this.#processes.suspend();
  }

  /** The abilities of its agent; undefined when the host does not have that agent. */
  get abilities(): AgentAbilities | undefined {
    return this.#options.backend?.abilities;
  }

  /** Reports use of the agent's model outside of turns. */
  spent(usage: UsageInfo): void {
    if (!this.isClosed) this.#observers.spent(usage);
  }

  /** Its agent; undefined when the host does not have that agent. */
  get backend(): AgentBackend | undefined {
    return this.#options.backend;
  }

  get isDisposed(): boolean {
    return this.#options.catalogue.find(this.uri)?.disposedAt !== undefined;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Applies an action of the host or of a client, and carries out what follows from it. */
  write(given: SessionAction, origin?: EntryOrigin): void {
    if (this.#isClosed) return;
    const action = this.#marked(given);
    const wasAtWork = this.isAtWork;
    const step = this.#options.writer.write({ channel: this.#options.channel, action, origin });
    this.#note(step, wasAtWork);
    this.naming.observe(action, origin);
    this.#observers.observe(step);
    // In a microtask, because no client waits for it.
    if (action.type === 'session/isArchivedChanged' && action.isArchived)
      queueMicrotask(() => this.#processes.suspend());
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

  /** Removes a folder that the session gave up from its chats. */
  #leaveFolders(action: SessionAction): void {
    if (action.type !== 'session/workingDirectoryRemoved' && action.type !== 'session/workingDirectoryReplaced') return;
    const { directory } = action;
    for (const chat of this.chats.filter(({ state }) => state.workingDirectories?.includes(directory))) {
      chat.write({ type: 'chat/workingDirectoryRemoved', directory });
      if (action.type === 'session/workingDirectoryReplaced')
        chat.write({ type: 'chat/workingDirectorySet', directory: action.replacement });
    }
  }

  /** Marks the session as unread: something happened that a person should see. */
  #markUnread(): void {
    if (this.state.status & SessionStatus.IsRead) this.write({ type: 'session/isReadChanged', isRead: false });
  }

  /**
   * Adds what older wires need, which show one active client and whole customizations: which client that is, and the
   * complete entry.
   */
  #marked(action: SessionAction): SessionAction {
    if (isMcpServerAction(action)) return withServerEntry(action, sessionReducer(this.state, action));
    if (action.type !== 'session/activeClientSet' && action.type !== 'session/activeClientRemoved') return action;
    return withShownClient(action, this.state, sessionReducer(this.state, action));
  }

  /** Updates what the session lists of a chat that accepted an action, and what waits in it. */
  chatStepped(step: ChatStep, type: string): void {
    // Most actions are text of a running turn, and change nothing that a session shows.
    if (type === 'chat/delta' || type === 'chat/reasoning') return this.#observers.textAdded(step);
    const { chat, before, after } = step;
    if (type === 'chat/turnStarted') this.extensions.publish();
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

  /** Corrects the session's list of chats after damage on disk; the chats themselves are right. */
  relist(): void {
    for (const { uri, state } of this.chats) {
      const listed = this.state.chats.find(({ resource }) => resource === uri);
      const changes = listed && listedChanges(listed, state);
      if (changes) this.write({ type: 'session/chatUpdated', chat: uri, changes });
      for (const action of inputNeededActions(this.state, state)) this.write(action);
    }
    const { activity } = this.chat.state;
    if (activity !== this.state.activity) this.write({ type: 'session/activityChanged', activity });
    // Also update the list of sessions: it counts annotations, and some may be lost.
    this.#list(undefined);
  }

  /** Applies what waited for the end of a chat's turn. */
  turnEnded(chat: Chat): void {
    if (chat === this.chat) this.#deferred.release((action, origin) => this.#select(action, origin));
  }

  #select(action: SelectionChangedAction, origin?: EntryOrigin): void {
    this.write(selectionAction(this.state, action), origin);
  }

  /** Chooses the model or the agent for messages that name none. */
  select(choice: Omit<SelectionChangedAction, 'type'>): void {
    this.#select({ type: SELECTION_CHANGED, ...choice });
  }

  /** Pins the session above others in every list, or unpins it. */
  pin(pinned: boolean): void {
    if (isPinned(this.state) !== pinned)
      this.write({ type: 'session/metaChanged', _meta: withPinned(this.state._meta, pinned) });
  }

  /** True when the session's processes have work to do, or will have when a person answers. */
  get #isNeeded(): boolean {
    const { inputNeeded = [] } = this.state;
    return this.isAtWork || this.chats.some(({ isOpening }) => isOpening) || inputNeeded.length > 0;
  }

  /**
   * Prepares the observers before an agent of the session opens. Chats that open at the same time share one
   * preparation.
   */
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
    const report = (message: string) => progress?.message(message);
    report('Preparing the folder');
    await this.#observers.prepareFolder(report);
    progress?.finished(GETTING_READY);
    const begun = this.#observers.begin(report, () => progress?.finished(GETTING_READY));
    await Promise.all([this.toolPermissions.load(), this.naming.load(), begun]);
    report(`Opening ${this.backend?.info.displayName ?? 'the agent'}`);
  }

  /** Recovers a session that was at work when the host stopped. */
  afterCrash(commands: InterruptedCommands, handedOverTurns: ReadonlyMap<string, string>): void {
    afterCrash(this, this.#options, { commands, handedOverTurns });
  }

  /** Recovers after actions that the host wrote here or in a chat could not be stored. */
  afterLoss(actions: readonly StateAction[]): void {
    afterLoss(this, this.#options, actions);
  }

  /** Removes a client from the active clients; false when it was none. */
  dropClient(clientId: string): boolean {
    if (!this.state.activeClients.some((client) => client.clientId === clientId)) return false;
    this.write({ type: 'session/activeClientRemoved', clientId });
    return true;
  }

  /** Removes active clients that are not connected. */
  dropAbsentClients(): void {
    for (const { clientId } of this.state.activeClients) {
      if (!this.#options.presence.isConnected(clientId)) this.write({ type: 'session/activeClientRemoved', clientId });
    }
  }

  /** Restores what is needed after a write of the host could not be stored. */
  lost(): void {
    this.standing.lost();
    this.#observers.lost();
  }

  /** Updates the list of sessions, in the same tick. */
  #note({ before, after }: Step<SessionState>, wasAtWork: boolean): void {
    if (before !== after) this.#list(before.title === after.title ? undefined : this.#options.clock.now());
    this.#noteWork(wasAtWork);
  }

  #noteWork(wasAtWork: boolean): void {
    if (wasAtWork !== this.isAtWork) this.#options.records.setActive(this.uri, this.isAtWork);
  }

  /** Lists the session in its present state. */
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

  /** Says why the agent cannot use a model; undefined when it can. */
  unknownModel(model: ModelSelection | undefined): string | undefined {
    const { backend } = this.#options;
    return backend && unknownModel(backend.info, model);
  }

  answerDeferred(origin: EntryOrigin, asker: ActionSender): void {
    if (this.#deferred.has(origin)) asker.deferred(origin);
  }

  takeSnapshot(): ChannelSnapshot | undefined {
    if (this.#isClosed) return undefined;
    // No action of a session changes its number of annotations: clients count those on their channel.
    const state = { ...this.committed, annotations: this.annotations.committedSummary };
    return { snapshot: { resource: this.uri, state, fromSeq: this.#options.writer.shown } };
  }

  /** Archives its state and those of chats at the end of this tick, so that opening them needs no replay. */
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

  /** Starts the agent of a new session. The state shows the outcome. */
  create(report?: ReportProgress): void {
    // One step for the folder, one for each observer, one for the agent.
    const progress = report && new CreationProgress(this.#observers.count + 2, report);
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

  /** True when an action still waits for the end of the turn: its client will be told. */
  isDeferring(origin: EntryOrigin): boolean {
    return this.#deferred.has(origin);
  }

  /** Makes actions wait again that waited when the host stopped, unless damage has ended their turn. */
  restoreDeferred(deferred: readonly DeferredAction[]): void {
    this.#deferred.restore(deferred);
    if (!this.chat.state.activeTurn) this.turnEnded(this.chat);
  }

  /** Takes the session off the list. It takes no further actions, unless this cannot be stored. */
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

  /** Ends the agents; what becomes of the state is up to the caller. */
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
