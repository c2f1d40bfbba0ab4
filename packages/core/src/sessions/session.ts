/** One session in memory: its channel, its agent, and everything that follows from an action on it. */
import type {
  Customization,
  FetchTurnsParams,
  PendingMessage,
  SessionAction,
  SessionState,
  StateAction,
} from '@atrium/protocol';
import type { Channel, Step } from '../channels/channel.js';
import type { ActionSender, ChannelSnapshot, OpenChannel, SnapshotRequest } from '../channels/open-channel.js';
import type { RootChannel } from '../channels/root-channel.js';
import type { Writer } from '../channels/writer.js';
import type { AgentAbilities, AgentBackend } from '../contracts/agent.js';
import type { BlobStore } from '../contracts/blobs.js';
import type { Extension } from '../contracts/extension.js';
import type { Deferrals, Presence, Watchers } from '../contracts/ports.js';
import type { TelemetryReports } from '../contracts/telemetry.js';
import type { HostTool } from '../contracts/tool.js';
import type { EntryOrigin, Log } from '../log/log.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import { type Catalogue, isAtWork } from './catalogue.js';
import { unknownModel } from './creation.js';
import { type DeferredAction, DeferredActions } from './deferred-actions.js';
import { Extensions } from './extensions.js';
import { History, type TurnPages, type TurnsPage } from './history.js';
import { IdleProcesses } from './idle.js';
import { StandingRequests } from './questions.js';
import { afterCrash, afterLoss } from './recovery.js';
import type { InterruptedCommands } from './running-commands.js';
import type { Service } from './service.js';
import { SessionAgent } from './session-agent.js';
import { type AttachObserver, SessionObservers } from './session-observer.js';
import { Naming, type SessionRecords, ToolPermissions } from './session-records.js';
import { mustWait, type Reaction, reactionsTo, refusal } from './session-rules.js';

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
  /** How many characters of one tool result a model reads. */
  readonly toolOutputMaxCharacters: number;
  readonly services: readonly Service[];
  readonly root: RootChannel;
  readonly log: Log;
  readonly catalogue: Catalogue;
  readonly records: SessionRecords;
  readonly tools: readonly HostTool[];
  /** What every session is extended by. */
  readonly extensions: readonly Extension[];
  /** How long the processes of a session outlive its last turn; `Infinity` leaves them alive. */
  readonly restProcessesAfterMs: number;
  /** What lives beside every session. */
  readonly observers: readonly AttachObserver[];
  /** Opens a channel again that has left memory. */
  open(uri: string): Promise<OpenChannel | undefined>;
  /** A session was used: it may leave memory after a while. */
  used(uri: string): void;
}

export interface SessionOptions extends SharedSessionOptions {
  readonly channel: Channel<SessionState>;
  readonly pages: TurnPages;
  readonly backend: AgentBackend | undefined;
  /** When the session was in memory before, this is over when it has left: two agents must not work on one session. */
  readonly predecessor: Promise<unknown> | undefined;
}

/** An agent with tools of its own for files and commands is not offered the host's. */
export function offeredBuiltins({ backend, tools }: Pick<SessionOptions, 'backend' | 'tools'>): readonly HostTool[] {
  return backend?.abilities.ownTools ? [] : tools;
}

export class Session implements OpenChannel {
  readonly #options: SessionOptions;
  readonly #held: DeferredActions;
  readonly #agent: SessionAgent;
  readonly #processes: IdleProcesses;
  readonly #history: History;
  /** It left memory or was disposed: nothing more happens here. */
  #isClosed = false;
  /** Tools that a person allowed for the rest of this session. */
  readonly toolPermissions: ToolPermissions;
  /** Whose title it has. */
  readonly naming: Naming;
  /** Whoever adds tools, gates or prompt text to it. */
  readonly extensions: Extensions;
  /** Questions to people that outlive turns. */
  readonly standing = new StandingRequests({
    write: (action) => this.write(action),
    state: () => this.state,
    isNoteNeeded: () => this.#options.watchers.isWatchedWithoutQuestions(this.uri),
  });
  readonly #observers: SessionObservers;
  readonly #activity: TurnActivity;
  #closing: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#held = new DeferredActions(options);
    const { clock, logger } = options;
    this.#processes = new IdleProcesses({
      ...{ clock, logger, session: options.channel.uri, restAfterMs: options.restProcessesAfterMs },
      isBusy: () => this.#isNeeded,
      end: async () => void (await Promise.all([this.#agent.rest(), this.#observers.rest()])),
    });
    this.#agent = new SessionAgent(this, options, {
      prepare: () => this.#begin(),
      isResting: () => this.#processes.isResting,
    });
    this.#history = new History(options);
    this.toolPermissions = new ToolPermissions(options.records, options.channel.uri);
    this.naming = new Naming(options.records, options.channel.uri);
    this.extensions = new Extensions({
      builtins: offeredBuiltins(options),
      standing: options.extensions,
      state: () => this.state,
      write: (action) => this.write(action),
    });
    this.#activity = new TurnActivity(this.state);
    const observers = options.observers.map((attach) => attach(this));
    this.#observers = new SessionObservers(observers, options.logger);
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

  /** Whether it can leave memory: nothing runs, nothing waits to be stored. */
  get isIdle(): boolean {
    const { channel } = this.#options;
    const isNeeded = this.#agent.isOpening || this.#observers.keepAwake;
    return !isAtWork(this.state) && channel.isSettled && this.#held.isEmpty && !isNeeded;
  }

  /** What its agent can do; undefined when the host does not have that agent. */
  get abilities(): AgentAbilities | undefined {
    return this.#options.backend?.abilities;
  }

  /** Its agent; undefined when the host does not have that agent. */
  get backend(): AgentBackend | undefined {
    return this.#options.backend;
  }

  /** The index of a finished turn, also of one that only the log has; undefined when there is none with this id. */
  indexOfTurn(turnId: string): Promise<number | undefined> {
    return this.#options.pages.indexOf(this.committed, turnId);
  }

  get isDisposed(): boolean {
    return this.#options.catalogue.find(this.uri)?.disposedAt !== undefined;
  }

  /** Whether it has a turn with this id, running or finished. */
  async hasTurn(turnId: string): Promise<boolean> {
    return this.state.activeTurn?.id === turnId || this.#history.has(turnId);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Takes an action, the host's own or a client's, and does what follows from it. */
  write(action: SessionAction, origin?: EntryOrigin): void {
    if (this.#isClosed) return;
    const step = this.#options.writer.write({ channel: this.#options.channel, action, origin });
    this.#options.writer.afterCommit(() => this.#agent.observe(step));
    this.#note(step);
    this.naming.observe(action, origin);
    this.standing.observe(step);
    this.#observers.observe(step);
    if (isAtWork(step.before) && !isAtWork(step.after)) this.#processes.used();
    // Nobody expects anything of it soon.
    if (action.type === 'session/isArchivedChanged' && action.isArchived) queueMicrotask(() => this.#processes.rest());
    if (this.#activity.hasOutlived(step)) this.write({ type: 'session/activityChanged', activity: undefined });
    for (const reaction of reactionsTo(step)) this.#react(reaction);
  }

  /** Whether its processes have something to do, or will have when a person answers. */
  get #isNeeded(): boolean {
    const { inputRequests = [] } = this.state;
    return isAtWork(this.state) || this.#agent.isOpening || inputRequests.length > 0;
  }

  /** What lives beside the session gets ready before its agent opens. */
  async #begin(): Promise<void> {
    await this.#processes.wake();
    this.extensions.changed();
    await this.#observers.prepareFolder();
    await Promise.all([this.toolPermissions.load(), this.naming.load(), this.#observers.begin()]);
  }

  /** The host stopped while the session was at work. */
  afterCrash(commands: InterruptedCommands): void {
    afterCrash(this, this.#options, commands);
  }

  /** Actions that the host wrote here could not be stored. */
  afterLoss(actions: readonly StateAction[]): void {
    afterLoss(this, this.#options, actions);
  }

  /** Frees the role of active client when the client that had it is not connected. */
  dropAbsentClient(): void {
    const clientId = this.state.activeClient?.clientId;
    if (clientId === undefined || this.#options.presence.isConnected(clientId)) return;
    this.write({ type: 'session/activeClientChanged', activeClient: null });
  }

  /** Something that the host wrote here could not be stored. */
  lost(): void {
    this.#observers.lost();
  }

  /** Keeps the list of sessions true, in the same tick. */
  #note({ before, after }: Step<SessionState>): void {
    const { catalogue, records } = this.#options;
    const { summary, lifecycle } = after;
    if (summary !== before.summary || lifecycle !== before.lifecycle) catalogue.set(this.uri, { summary, lifecycle });
    if (isAtWork(before) !== isAtWork(after)) records.setActive(this.uri, isAtWork(after));
  }

  async dispatch(action: StateAction, origin: EntryOrigin, asker: ActionSender): Promise<void> {
    if (action.type === 'session/truncated') await this.#history.reach(action.turnId);
    const isRepeated = action.type === 'session/turnStarted' && (await this.#history.has(action.turnId));
    if (this.#isClosed) return (await this.#options.open(this.uri))?.dispatch(action, origin, asker);
    if (isRepeated) return asker.reject(origin, 'a turn of that id is over: make a new id');
    const reason = refusal(action, { state: this.state, clientId: origin.clientId }) ?? this.#unknown(action);
    if (reason) return asker.reject(origin, reason);
    if (mustWait(action, this.state)) {
      if (!this.#held.isFull) return this.#held.hold(action as SessionAction, origin, asker);
      return asker.reject(origin, 'too many changes wait for the end of the turn');
    }
    this.write(action as SessionAction, origin);
  }

  answerDeferred(origin: EntryOrigin, asker: ActionSender): void {
    if (this.#held.has(origin)) asker.deferred(origin);
  }

  takeSnapshot(request: SnapshotRequest): ChannelSnapshot | undefined {
    return this.#isClosed ? undefined : this.#history.takeSnapshot(request);
  }

  fetchTurns(params: FetchTurnsParams, takesText: boolean): Promise<TurnsPage> {
    return this.#history.fetch(params, takesText);
  }

  /** What the action names has to be there. */
  #unknown(action: StateAction): string | undefined {
    const { backend } = this.#options;
    if (action.type === 'session/modelChanged') return backend && unknownModel(backend.info, action.model);
    if (action.type !== 'session/truncated' || action.turnId === undefined) return undefined;
    const known = this.state.turns.some((turn) => turn.id === action.turnId);
    return known ? undefined : `there is no turn ${action.turnId}`;
  }

  #react(reaction: Reaction): void {
    const { writer } = this.#options;
    switch (reaction.kind) {
      case 'release-deferred':
        return this.#held.release((action, origin) => this.write(action, origin));
      case 'start-queued':
        // Whoever looked at the action first may have put another message to the front.
        return this.#startQueued(this.state.queuedMessages?.[0] ?? reaction.message);
      case 'run-turn':
        return writer.afterCommit(() => this.#agent.run(reaction.turnId));
      case 'stop-turn':
        return writer.afterCommit(() => this.stopAgent(reaction.turnId));
      case 'truncate-agent':
        return writer.afterCommit(() => this.#agent.truncated(reaction.turnId));
      case 'update-customization':
        return this.#updateCustomization(reaction.customization);
      case 'archive':
        return this.archive();
    }
  }

  /** A directory comes with the whole list: see the publisher of customizations. */
  #updateCustomization(customization: Customization): void {
    if (customization.type !== 'directory') return this.write({ type: 'session/customizationUpdated', customization });
    const customizations = (this.state.customizations ?? []).map((entry) =>
      entry.id === customization.id ? customization : entry,
    );
    this.write({ type: 'session/customizationsChanged', customizations });
  }

  #startQueued({ id, userMessage }: PendingMessage): void {
    this.write({ type: 'session/pendingMessageRemoved', kind: 'queued', id });
    this.write({
      type: 'session/turnStarted',
      turnId: `turn-${crypto.randomUUID()}`,
      userMessage,
      queuedMessageId: id,
    });
  }

  /** Stores the state as it is at the end of this tick, so that opening it later needs no replay. */
  archive(): void {
    this.#history.archive();
  }

  /** Stops the agent, if it is at work on this turn. */
  stopAgent(turnId: string): void {
    this.#agent.stop(turnId);
  }

  /** Starts the agent of a new session. */
  create(): void {
    if (!this.#isClosed) this.#agent.create();
  }

  /** Whether an action still waits for the end of the turn: its client will hear of it. */
  isDeferring(origin: EntryOrigin): boolean {
    return this.#held.has(origin);
  }

  /** What waited for the end of a turn when the host stopped waits again, unless damage has ended that turn. */
  restoreDeferred(held: readonly DeferredAction[]): void {
    this.#held.restore(held);
    if (!this.state.activeTurn) this.#react({ kind: 'release-deferred' });
  }

  /** Takes it off the list. Nothing more happens here from now on, unless this could not be stored. */
  async dispose(): Promise<void> {
    const { clock, writer, catalogue, records } = this.#options;
    const { activeTurn } = this.state;
    if (activeTurn) this.write({ type: 'session/turnCancelled', turnId: activeTurn.id });
    this.archive();
    const { summary, lifecycle } = this.state;
    records.setActive(this.uri, false);
    catalogue.set(this.uri, { summary, lifecycle, disposedAt: clock.now() });
    this.#isClosed = true;
    await writer.settled().catch((error) => {
      this.#isClosed = false;
      throw error;
    });
  }

  /** Ends the agent; the state is left to the caller. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#options.pages.close();
    this.#processes.stop();
    this.#closing ??= Promise.all([this.#agent.close(), this.#observers.close()]).then(() => {});
    return this.#closing;
  }
}

/** What a turn says it is doing is over with the turn. What others put there between turns stays. */
export class TurnActivity {
  /** Whether the activity that is shown was set while a turn was running. */
  #isOfTurn: boolean;

  /** A turn that is running already was cut off by a crash: nobody remembers who set the activity, so it goes with it. */
  constructor({ activeTurn }: SessionState) {
    this.#isOfTurn = activeTurn !== undefined;
  }

  /** Looks at every action: true when the turn is over whose activity is still shown. */
  hasOutlived({ action, before, after }: Step<SessionState>): boolean {
    if (action.type === 'session/activityChanged') this.#isOfTurn = after.activeTurn !== undefined;
    if (!before.activeTurn || after.activeTurn) return false;
    return this.#isOfTurn && after.summary.activity !== undefined;
  }
}
