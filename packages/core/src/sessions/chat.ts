/** One chat of a session in memory: its channel, its agent, its history, and what follows from each action on it. */
import {
  ANSWERED_BY,
  type ChatAction,
  type ChatState,
  type ChatToolCallReadyAction,
  chatReducer,
  type Message,
  type PendingMessage,
  PLAN_OPTIONS,
  PLAN_TOOL,
  PRIVATE,
  type Role,
  type StateAction,
  sideContextUri,
  type Turn,
  withPendingMark,
} from '@atrium/protocol/ahp-1';
import type { Channel, Step } from '../channels/channel.js';
import type { ActionSender, ChannelSnapshot, OpenChannel, SnapshotRequest } from '../channels/open-channel.js';
import type { AgentBackend, AgentSession } from '../contracts/agent.js';
import { isLasting } from '../contracts/tool.js';
import type { EntryOrigin } from '../log/log.js';
import { foldersOf } from '../util/folders.js';
import { ChatAgent } from './chat-agent.js';
import { pinnedChats } from './chat-attachments.js';
import { type ChatReaction, chatRefusal, findCall, reactionsTo } from './chat-rules.js';
import { History, parsedTurns, type TurnPages, type TurnsPage, type TurnsRequest } from './history.js';
import { CLIENT_CLOCK_SLACK_MS, FETCH_TURNS_MAX } from './limits.js';
import { isKept, prepareContents, readableContents } from './message-contents.js';
import type { Session, SharedSessionOptions } from './session.js';
import { endsOfRunningCalls } from './stopped-calls.js';

/** Size of one answer with context turns. A single turn is always sent whole, however large it is. */
const CONTEXT_PAGE_BYTES = 2 ** 20;

/** Actions with which people answer. */
const ANSWERS: ReadonlySet<string> = new Set([
  'chat/toolCallConfirmed',
  'chat/toolCallResultConfirmed',
  'chat/inputCompleted',
]);

export interface ChatOptions extends SharedSessionOptions {
  readonly channel: Channel<ChatState>;
  readonly pages: TurnPages;
  readonly backend: AgentBackend | undefined;
  /** Settles when an earlier instance of this session has left memory: two agents must not work on one chat. */
  readonly predecessor: Promise<unknown> | undefined;
  /** Set for the chat of a worker, unless the session's agent works in it. */
  readonly worker?: Worker | undefined;
}

/** The worker in the chat of a tool call. It ends with the call, and does not come back with the chat. */
export interface Worker {
  /** The agent's side of the chat; absent when the session's agent opens the chat like any other. */
  readonly agent?: AgentSession;
  /** The names of the tools that the worker may use; absent: all. */
  readonly tools?: ReadonlySet<string>;
}

/** Prepares the processes that a chat and its agent need. */
export interface ChatReadiness {
  /** Prepares everything that the agent needs. */
  prepare(): Promise<void>;
  /** True when processes were ended and must be prepared again. */
  isSuspended(): boolean;
}

/** Shown with a turn that this host no longer begins. */
const HANDED_OVER_TURN = 'Waiting for the host that takes over';

export class Chat implements OpenChannel {
  readonly session: Session;
  readonly #options: ChatOptions;
  readonly #agent: ChatAgent;
  readonly #history: History;
  readonly #activity: TurnActivity;
  #isHandedOver = false;
  /** The turn that this host leaves to the next one. */
  #handedOverTurn: string | undefined;
  /** Callbacks for the end of turns. */
  readonly #awaited = new Map<string, (turn: Turn | undefined) => void>();
  /**
   * The steering message with its contents, read in advance: the agent takes it in the middle of a tick, when there is
   * no time to read.
   */
  #readableSteering: PendingMessage | undefined;
  #starter: { readonly turnId: string; readonly clientId: string } | undefined;

  constructor(session: Session, options: ChatOptions, readiness: ChatReadiness) {
    this.session = session;
    this.#options = options;
    this.#agent = new ChatAgent(this, options, readiness);
    this.#history = new History(options);
    this.#activity = new TurnActivity(this.state);
  }

  get uri(): string {
    return this.#options.channel.uri;
  }

  /**
   * The key for what the log keeps about the chat beside its state. The default chat uses the session's URI, as logs
   * did before there were further chats.
   */
  get ownKey(): string {
    return this.session.chat === this ? this.session.uri : this.uri;
  }

  get channel(): Channel {
    return this.#options.channel as unknown as Channel;
  }

  get state(): ChatState {
    return this.#options.channel.live;
  }

  get committed(): ChatState {
    return this.#options.channel.committed;
  }

  /** The folders in which its turns work, as paths: all of the session's, or those that the chat chose. */
  get folders(): readonly string[] {
    const all = foldersOf(this.session.state, this.state);
    return this.#options.backend?.info.capabilities?.multipleWorkingDirectories ? all : all.slice(0, 1);
  }

  get isClosed(): boolean {
    return this.#isHandedOver || this.session.isClosed;
  }

  /**
   * Marks the chat as no longer part of its session. If that cannot be stored, the caller undoes it with the returned
   * function.
   */
  handOver(): () => void {
    this.#isHandedOver = true;
    return () => {
      this.#isHandedOver = false;
    };
  }

  /** The number of finished turns. */
  turnCount(): number {
    return this.#options.pages.total(this.committed);
  }

  /** True when an action is not stored yet, or the agent is being opened. */
  get isBusy(): boolean {
    return !this.#options.channel.isSettled || this.#agent.isOpening;
  }

  /** True when its turn waits for the host that takes over. */
  get isHandedOver(): boolean {
    return this.#handedOverTurn !== undefined && this.state.activeTurn?.id === this.#handedOverTurn;
  }

  /** True when the agent can resume a turn that was cut off. */
  get canResume(): boolean {
    const { interactivity = 'full' } = this.state;
    return interactivity === 'full' && this.#options.backend?.abilities.resume === true;
  }

  get isOpening(): boolean {
    return this.#agent.isOpening;
  }

  /** The index of a finished turn, even if only the log has it; undefined when no turn has this id. */
  indexOfTurn(turnId: string): Promise<number | undefined> {
    return this.#options.pages.indexOf(this.committed, turnId);
  }

  /** True when a turn, running or finished, has this id. */
  async hasTurn(turnId: string): Promise<boolean> {
    return this.state.activeTurn?.id === turnId || this.#history.has(turnId);
  }

  /** The client that started a turn; undefined when the host did, or after a restart. */
  startedBy(turnId: string): string | undefined {
    return this.#starter?.turnId === turnId ? this.#starter.clientId : undefined;
  }

  /** Shows a note in the running turn. */
  notify(note: string): void {
    this.#agent.notify(note);
  }

  /** Applies an action of the host or of a client, and carries out what follows from it. */
  write(given: ChatAction, origin?: EntryOrigin): void {
    if (this.isClosed) return;
    // Text that the agent said earlier goes first.
    this.#agent.flushText();
    if (given.type === 'chat/turnCancelled') this.#endRunningCalls(given.turnId);
    const action = this.#stamped(given, origin);
    if (action.type === 'chat/turnStarted' || action.type === 'chat/turnResume')
      this.#starter = origin && { turnId: action.turnId, clientId: origin.clientId };
    const step = this.#options.writer.write({ channel: this.#options.channel, action, origin });
    this.#options.writer.afterCommit(() => this.#agent.observe(step));
    this.#history.observe(step);
    this.#resolveEnded(step);
    const { time, before, after } = step;
    this.session.chatStepped({ action, origin, time, before, after, chat: this }, action.type);
    if (this.#activity.hasOutlived(action, step)) this.write({ type: 'chat/activityChanged' });
    for (const reaction of reactionsTo(action, step)) this.#react(reaction);
  }

  #endRunningCalls(turnId: string): void {
    const { activeTurn } = this.state;
    if (activeTurn?.id === turnId) for (const end of endsOfRunningCalls(activeTurn)) this.write(end);
  }

  /**
   * Stamps the host's times on a turn: when it began, and how long it took. When a client stopped the turn, its own
   * measurement is kept.
   */
  #stamped(action: ChatAction, origin: EntryOrigin | undefined): ChatAction {
    switch (action.type) {
      case 'chat/turnStarted':
        return { ...action, startedAt: this.#now(), message: this.#withSelection(action.message) };
      case 'chat/turnComplete':
      case 'chat/error':
        return { ...action, duration: this.#duration() };
      case 'chat/turnCancelled':
        return { ...action, duration: this.#durationSeen(origin && action.duration) };
      case 'chat/toolCallReady':
        return this.#marked(action);
      default:
        return action;
    }
  }

  #now(): string {
    return new Date(this.#options.channel.timeAt(this.#options.clock.now())).toISOString();
  }

  #duration(): number {
    const { activeTurn } = this.state;
    const took = activeTurn ? Date.parse(this.#now()) - Date.parse(activeTurn.startedAt) : 0;
    // The start of an imported turn that goes on may be no valid date.
    return took > 0 ? took : 0;
  }

  /** The duration that a client measured, unless it is impossible: the end of a turn dates the session. */
  #durationSeen(measured: unknown): number {
    const own = this.#duration();
    return isDuration(measured) && measured <= own + CLIENT_CLOCK_SLACK_MS ? measured : own;
  }

  /** Adds the model and the agent that a message is sent with, if it names none. */
  #withSelection(message: Message): Message {
    const { model, agent } = this.session.selection;
    return { ...message, ...(model && !message.model && { model }), ...(agent && !message.agent && { agent }) };
  }

  /** Marks a second question about one call, because older wires cannot show that. */
  #marked(action: ChatToolCallReadyAction): ChatToolCallReadyAction {
    const before = this.state;
    if (PRIVATE in action || findCall(before, action)?.status !== 'pending-confirmation') return action;
    return withPendingMark(action, before, chatReducer(before, action));
  }

  /**
   * The least role for an action. Only the owner may approve more than one call, and answer questions about trust and
   * money.
   */
  leastRole(action: StateAction): Role | undefined {
    if (action.type === 'chat/inputCompleted' || action.type === 'chat/inputAnswerChanged')
      return this.session.standing.leastFor(action.requestId);
    if (action.type !== 'chat/toolCallConfirmed') return undefined;
    const call = findCall(this.state, action);
    // Accepting a plan changes the session's mode, and only the owner may choose modes that ask less.
    if (call?.toolName === PLAN_TOOL && action.approved)
      return (action.selectedOptionId ?? PLAN_OPTIONS.ask) === PLAN_OPTIONS.ask ? 'driver' : 'owner';
    const options = call?.status === 'pending-confirmation' ? call.options : undefined;
    const option = options?.find(({ id }) => id === action.selectedOptionId);
    return option && isLasting(option) ? 'owner' : undefined;
  }

  async dispatch(given: StateAction, origin: EntryOrigin, asker: ActionSender): Promise<void> {
    const action = this.#signed(given as ChatAction, asker);
    if (action.type === 'chat/truncated') await this.#history.reach(action.turnId);
    const isRepeated = action.type === 'chat/turnStarted' && (await this.#history.has(action.turnId));
    const pinned = await this.#withContents(action);
    if (this.isClosed) return (await this.#options.open(this.uri))?.dispatch(action, origin, asker);
    if ('refused' in pinned) return asker.reject(origin, pinned.refused);
    if (isRepeated) return asker.reject(origin, 'a turn of that id is over: make a new id');
    const { session, state, canResume } = this;
    const agent = session.backend?.info;
    const facts = { state, session: session.state, clientId: origin.clientId, agent, canResume };
    const reason = chatRefusal(pinned.action, facts) ?? this.#unknown(action);
    if (reason) return asker.reject(origin, reason);
    if (action.type === 'chat/truncated' && action.turnId !== undefined) this.#loadFrom(action.turnId);
    this.#showEdited(action);
    this.#readableSteering = pinned.steering ?? this.#readableSteering;
    this.write(pinned.action, origin);
  }

  /** Records who gave an approval: the display name of the credential, never what a client claims. */
  #signed(action: ChatAction, { name }: ActionSender): ChatAction {
    const isAnswer = ANSWERS.has(action.type);
    if (!isAnswer) return action;
    const { [ANSWERED_BY]: _claimed, ...given } = (action as { _meta?: Record<string, unknown> })._meta ?? {};
    const call = 'toolCallId' in action ? findCall(this.state, action) : undefined;
    const meta = { ...call?._meta, ...given, ...(name !== undefined && { [ANSWERED_BY]: name }) };
    const { _meta, ...rest } = action as ChatAction & { _meta?: unknown };
    return (_meta === undefined && name === undefined ? action : { ...rest, _meta: meta }) as ChatAction;
  }

  /**
   * Shows an edited input before its approval, in the same tick, if the edit or the original is long. Clients then have
   * a reference to the input, which an approval would not replace: it replaces only text.
   */
  #showEdited(action: ChatAction): void {
    if (action.type !== 'chat/toolCallConfirmed' || !action.approved) return;
    const { turnId, toolCallId, editedToolInput: toolInput } = action;
    const call = findCall(this.state, action);
    if (toolInput === undefined || call?.status !== 'pending-confirmation') return;
    const { invocationMessage } = call;
    const { inputs } = this.#options;
    if (!inputs.has(call.toolInput) && !inputs.has(toolInput)) return;
    const edited: ChatToolCallReadyAction = {
      type: 'chat/toolCallReady',
      turnId,
      toolCallId,
      invocationMessage,
      toolInput,
    };
    this.write({ ...edited, [PRIVATE]: { pending: 'edited' } } as ChatToolCallReadyAction);
  }

  /**
   * Prepares the attachments of a message: pins the transcripts of chats to where they end now, and stores contents
   * before the message.
   */
  async #withContents(action: ChatAction): Promise<PreparedAction | { refused: string }> {
    const { blobs, open } = this.#options;
    if (action.type === 'chat/draftChanged' && action.draft?.attachments) {
      const kept = await isKept(action.draft, blobs);
      return 'refused' in kept ? kept : { action };
    }
    if (!hasAttachments(action)) return { action };
    const taken = await prepareContents(action.message, blobs);
    const pinned = 'refused' in taken ? taken : await pinnedChats(taken.message, open);
    if ('refused' in pinned) return pinned;
    const isSteering = action.type === 'chat/pendingMessageSet' && action.kind === 'steering';
    const { message } = isSteering ? await readableContents(pinned.message, blobs) : pinned;
    return {
      action: { ...action, message: pinned.message },
      ...(isSteering && { steering: { id: action.id, message } }),
    };
  }

  /** A steering message with its contents, as the agent gets it. */
  readableSteering({ id, message }: PendingMessage): Message {
    return this.#readableSteering?.id === id ? this.#readableSteering.message : message;
  }

  /** Sends the turn where history is cut to clients that have loaded only newer ones. The turn is in memory. */
  #loadFrom(turnId: string): void {
    const at = this.state.turns.findIndex(({ id }) => id === turnId);
    const index = this.#options.pages.base + at;
    const { watchers } = this.#options;
    if (at >= 0 && watchers.loadedFrom(this.uri) > index)
      watchers.loadTurns(this.uri, index, this.state.turns.slice(at));
  }

  /** Loads the turn that a cut is to end with; undefined: all turns. */
  reach(turnId: string | undefined): Promise<void> {
    return this.#history.reach(turnId);
  }

  /** Cuts off everything after a turn that `reach` has loaded, or everything. */
  cutBehind(turnId: string | undefined): void {
    if (turnId !== undefined) this.#loadFrom(turnId);
    this.write({ type: 'chat/truncated', ...(turnId !== undefined && { turnId }) });
  }

  /**
   * Appends finished turns. The protocol can add turns only before others, so clients get a cut that leaves nothing,
   * and then the newest turns, including the restored ones.
   */
  append(turns: readonly Turn[]): void {
    const { base } = this.#options.pages;
    const all = [...this.state.turns, ...turns];
    const cursor = base > 0 && { turnsNextCursor: String(base) };
    this.write({ type: 'chat/truncated' });
    this.write({ type: 'chat/turnsLoaded', turns: all, ...cursor, [PRIVATE]: { restored: true } } as ChatAction);
  }

  /**
   * Sends a finished turn that something refers to, with those after it, to clients that have loaded only newer ones,
   * unless it is too far back.
   */
  async showTurn(index: number): Promise<void> {
    const { watchers } = this.#options;
    const end = watchers.loadedFrom(this.uri);
    if (end <= index || end - index > FETCH_TURNS_MAX) return;
    watchers.loadTurns(this.uri, index, await this.turnsBetween(index, end));
  }

  /** Starts a turn with a message of the host. */
  start(message: Message, startedBy?: string): string {
    const turnId = `turn-${crypto.randomUUID()}`;
    this.write({ type: 'chat/turnStarted', turnId, startedAt: this.#now(), message });
    this.#starter = startedBy === undefined ? undefined : { turnId, clientId: startedBy };
    return turnId;
  }

  /** Resolves with the running turn when its end is stored; with undefined when it is cut off with the chat. */
  turnEnd(turnId: string): Promise<Turn | undefined> {
    if (this.state.activeTurn?.id !== turnId) return Promise.resolve(this.#finished(turnId));
    return new Promise((resolve) => this.#awaited.set(turnId, resolve));
  }

  #finished(turnId: string): Turn | undefined {
    return this.state.turns.findLast(({ id }) => id === turnId);
  }

  /** Resolves what waits for the end of a turn, once that is stored. */
  #resolveEnded({ before, after }: Step<ChatState>): void {
    const turnId = before.activeTurn?.id;
    const awaited = turnId === undefined || turnId === after.activeTurn?.id ? undefined : this.#awaited.get(turnId);
    if (turnId === undefined || !awaited) return;
    const turn = this.#finished(turnId);
    this.#options.writer.afterCommit(() => {
      this.#awaited.delete(turnId);
      awaited(turn);
    });
  }

  /** Refuses an action that names a model or a turn that does not exist. */
  #unknown(action: ChatAction): string | undefined {
    if (action.type === 'chat/turnStarted' || action.type === 'chat/pendingMessageSet')
      return this.session.unknownModel(action.message.model);
    if (action.type !== 'chat/truncated' || action.turnId === undefined) return undefined;
    const known = this.state.turns.some((turn) => turn.id === action.turnId);
    return known ? undefined : `there is no turn ${action.turnId}`;
  }

  takeSnapshot(request: SnapshotRequest): ChannelSnapshot | undefined {
    return this.isClosed ? undefined : this.#history.takeSnapshot(request);
  }

  /** Finished turns by index, oldest first. */
  turnsBetween(start: number, end: number): Promise<Turn[]> {
    const { pages } = this.#options;
    return pages.slice(this.committed, start, Math.min(end, pages.total(this.committed)));
  }

  /** The page of finished turns before an index. */
  turnsBefore(end: () => number): Promise<{ readonly start: number; readonly turns: Turn[] }> {
    return this.#history.before(end);
  }

  /** How many turns the agent of a side chat knows from the start. They are not part of the state that clients see. */
  async contextCount(): Promise<number> {
    if (this.state.origin?.kind !== 'sideChat') return 0;
    return (await this.#options.log.archiveHead(sideContextUri(this.uri)))?.turnCount ?? 0;
  }

  /** The first of these turns by index, as many as fit into a page. */
  async contextTurns(start: number, end: number): Promise<Turn[]> {
    const context = { start, end: Math.min(end, await this.contextCount()), maxBytes: CONTEXT_PAGE_BYTES };
    if (context.start >= context.end) return [];
    const stored = await this.#options.log.archivedTurns(sideContextUri(this.uri), context);
    return parsedTurns(stored.map(({ json }) => json));
  }

  fetchTurns(request: TurnsRequest): Promise<TurnsPage> {
    return this.#history.fetch(request);
  }

  #react(reaction: ChatReaction): void {
    const { writer } = this.#options;
    switch (reaction.kind) {
      case 'turn-ended':
        return this.session.turnEnded(this);
      case 'start-queued':
        return this.startQueued();
      case 'run-turn':
        return this.#begin(reaction.turnId);
      case 'stop-turn':
        return writer.afterCommit(() => this.stopAgent(reaction.turnId));
      case 'truncate-agent':
        return writer.afterCommit(() => this.#agent.truncated(reaction.turnId));
      case 'store-archive':
        return this.session.storeArchive([this]);
    }
  }

  #begin(turnId: string): void {
    const { writer, records } = this.#options;
    if (!this.#canHandOver(turnId)) return writer.afterCommit(() => this.#agent.run(turnId));
    this.#handedOverTurn = turnId;
    records.setHandedOverTurn(this.ownKey, turnId);
    this.write({ type: 'chat/activityChanged', activity: HANDED_OVER_TURN });
  }

  /**
   * True when the next host can begin a turn just as well: a client's message, to an agent that needs nothing that is connected
   * only here. Other turns begin even while the host is leaving: a running turn waits for that of a worker, an automation
   * follows its own, and clients and providers are not back when the next host starts.
   */
  #canHandOver(turnId: string): boolean {
    const { turnStarts, worker, backend } = this.#options;
    if (!turnStarts.areHandedOver || worker || this.#starter?.turnId !== turnId) return false;
    const isNew = this.state.activeTurn?.responseParts.length === 0;
    const { state, extensions } = this.session;
    const isAlone = state.activeClients.length === 0 && !extensions.all().some(({ isConnected }) => isConnected);
    return isNew && isAlone && !backend?.info.protectedResources?.length;
  }

  /** Begins a turn that the previous host left to this one. After a crash from here on, it counts as begun. */
  startHandedOverTurn(turnId: string): void {
    this.#options.records.setHandedOverTurn(this.ownKey, undefined);
    this.write({ type: 'chat/activityChanged' });
    this.#begin(turnId);
  }

  /** Starts the first waiting message as the next turn, unless a turn is running. */
  startQueued(): void {
    const next = this.state.queuedMessages?.[0];
    if (!next || this.state.activeTurn || this.session.state.lifecycle !== 'ready') return;
    const { id, message } = next;
    this.write({ type: 'chat/pendingMessageRemoved', kind: 'queued', id });
    const turnId = `turn-${crypto.randomUUID()}`;
    this.write({ type: 'chat/turnStarted', turnId, startedAt: this.#now(), message, queuedMessageId: id });
  }

  /** Archives the state at the end of this tick, so that opening the chat later needs no replay. */
  storeArchive(): void {
    this.#history.storeArchive();
  }

  /** Writes what the agent has said so far. */
  flushText(): void {
    this.#agent.flushText();
  }

  /** Looks again at calls whose client has left: another client may take them over. */
  clientsChanged(): void {
    this.#agent.clientsChanged();
  }

  /** Stops the agent if it works on this turn. */
  stopAgent(turnId: string): void {
    this.#agent.stop(turnId);
  }

  /** Opens the agent of a new session. */
  openAgent(): Promise<unknown> {
    return this.#agent.open();
  }

  /** Closes the agent, which has nothing more to do here. */
  closeAgent(): Promise<void> {
    return this.#agent.close();
  }

  /** Ends the processes of the agent; the next turn starts them again. */
  suspend(): Promise<void> {
    return this.#agent.suspend();
  }

  /** Called when the disposal of the chat is stored. */
  gone(): void {
    this.#options.pages.gone();
  }

  close(): Promise<void> {
    for (const resolve of this.#awaited.values()) resolve(undefined);
    this.#awaited.clear();
    this.#options.pages.close();
    return this.#agent.close();
  }
}

/** Actions that bring a message to the agent, now or later. */
type MessageAction = Extract<ChatAction, { type: 'chat/turnStarted' | 'chat/pendingMessageSet' }>;

/** An action with the attachments of its message prepared. `steering` is the message as the agent reads it. */
interface PreparedAction {
  readonly action: ChatAction;
  readonly steering?: PendingMessage;
}

function hasAttachments(action: ChatAction): action is MessageAction {
  const isMessage = action.type === 'chat/turnStarted' || action.type === 'chat/pendingMessageSet';
  return isMessage && action.message.attachments !== undefined;
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/**
 * Decides when a shown activity is out of date: what a turn set ends with the turn, but what others set between turns
 * stays.
 */
export class TurnActivity {
  /** True when the shown activity was set while a turn was running. */
  #isOfTurn: boolean;

  /** If a crash cut off a running turn, nobody knows who set the activity, so it is cleared with that turn. */
  constructor({ activeTurn }: ChatState) {
    this.#isOfTurn = activeTurn !== undefined;
  }

  /** Looks at every action. True when a turn has ended whose activity is still shown. */
  hasOutlived({ type }: ChatAction, { before, after }: Pick<Step<ChatState>, 'before' | 'after'>): boolean {
    if (type === 'chat/activityChanged') this.#isOfTurn = after.activeTurn !== undefined;
    if (!before.activeTurn || after.activeTurn) return false;
    return this.#isOfTurn && after.activity !== undefined;
  }
}
