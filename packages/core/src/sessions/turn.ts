/**
 * Runs an agent's turn. The runner gives the turn to the backend, and turns everything that the backend does into
 * actions. It waits for changes of the stored state, never for a message: whichever client answers, the state shows it.
 */
import { setMaxListeners } from 'node:events';
import {
  type ActiveTurn,
  type AgentSelection,
  type ChatAction,
  type ChatInputRequest,
  type ChatSideChatOrigin,
  type ChatState,
  type Compaction,
  compactCommand,
  findCall,
  isLiteral,
  type Message,
  type ModelSelection,
  plusUsage,
  type ResponsePart,
  type ToolCallState,
  type ToolDefinition,
  type UsageInfo,
} from '@atrium/protocol/ahp-1';
import type { Step } from '../channels/channel.js';
import {
  AgentError,
  type AgentRunCall,
  type AgentRunCallStart,
  type AgentSession,
  type AgentTurn,
  type BegunCall,
  type CallStart,
  type InputOutcome,
  type OpenWorker,
  type PlannedTask,
  type ScriptedToolCall,
  type ToolOutcome,
  type ToolRequest,
  type WorkerStart,
} from '../contracts/agent.js';
import type { WorkerTurn } from '../contracts/extension.js';
import { TurnPrompt } from '../prompt/turn-prompt.js';
import { ToolCalls } from '../tool-calls/tool-calls.js';
import type { Sections } from '../util/prompt-sections.js';
import { shorten } from '../util/text.js';
import { untilAborted } from '../util/waiting.js';
import { withAnnotationTexts } from './annotations.js';
import type { Chat, ChatOptions } from './chat.js';
import { errorInfo } from './chat-agent.js';
import { attachedTranscripts } from './chat-attachments.js';
import { adviceFor, objectionTo, type Question, untilReady } from './extensions.js';
import { ACTIVITY_MAX_CHARACTERS, TITLE_MAX_CHARACTERS, TURN_CONTINUED_MAX } from './limits.js';
import { attachedExcerpts, readableContents } from './message-contents.js';
import { askPerson } from './questions.js';
import { isJoinable, TextJoiner } from './text-joiner.js';
import { TurnStream } from './turn-output.js';
import { callContextOf, promptContextOf } from './turn-ports.js';
import { type Find, TurnOverError, Waiters } from './waiters.js';
import { isWorker, TurnWorkers, WORKER_ADVICE } from './workers.js';

/** Written instead of running the turn: the agent would take the command for ordinary text. */
const NO_COMPACTION =
  'This agent has no /compact: it manages its memory itself. A new session, or a /fork from an earlier turn, begins with less.';

export class TurnRunner implements AgentTurn {
  readonly id: string;
  readonly model: ModelSelection | undefined;
  readonly agent: AgentSelection | undefined;
  readonly workingDirectory: string | undefined;
  /** The client that sent the message; undefined when the host started the turn. */
  readonly startedBy: string | undefined;
  readonly #chat: Chat;
  readonly #soFar: readonly ResponsePart[] | undefined;
  readonly #options: ChatOptions;
  readonly #abort = new AbortController();
  /** Read for every word, where a signal is slow to tell. */
  #isOver = false;
  readonly #waiters = new Waiters();
  readonly #course: TurnLifecycle;
  readonly #stream: TurnStream;
  /** Absent when every piece of text becomes its own action. */
  readonly #window: TextJoiner | undefined;
  readonly #calls: ToolCalls;
  readonly #workers: TurnWorkers;
  #prompt: TurnPrompt | undefined;
  #readable: { readonly of: Message; readonly message: Message } | undefined;
  /** Usage of the turn before the agent last got it: the agent counts from there. */
  #usedBefore: UsageInfo | undefined;

  constructor(chat: Chat, options: ChatOptions, turn: ActiveTurn) {
    this.#chat = chat;
    this.#options = options;
    // Every running call listens, and a model may make many at once.
    setMaxListeners(0, this.#abort.signal);
    this.id = turn.id;
    this.#soFar = turn.responseParts.length > 0 ? withoutErrors(turn.responseParts) : undefined;
    this.#stream = new TurnStream(turn, (action) => this.write(action));
    this.#window = options.joinsText ? this.#newWindow(options) : undefined;
    this.#course = new TurnLifecycle(this, options, turn.message);
    this.model = turn.message.model;
    this.agent = turn.message.agent;
    this.workingDirectory = this.workingDirectories[0];
    this.startedBy = chat.startedBy(turn.id);
    this.#calls = new ToolCalls(callContextOf(this, options));
    this.#workers = new TurnWorkers(this, options);
  }

  get workingDirectories(): readonly string[] {
    return this.#chat.folders;
  }

  /** The message, with its annotations as they were when the agent first read it. */
  get message(): Message {
    const { message } = this.#course;
    if (this.#readable?.of !== message)
      this.#readable = { of: message, message: withAnnotationTexts(message, this.#chat.session.annotations) };
    return this.#readable.message;
  }

  get context(): readonly string[] {
    return this.#course.context;
  }

  /** What the agent said so far. After extensions made it continue, it has a new message, and goes on by itself. */
  get soFar(): readonly ResponsePart[] | undefined {
    return this.#course.hasNewMessage ? undefined : this.#soFar;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get chat(): Chat {
    return this.#chat;
  }

  /** True while this is the running turn. */
  get isActive(): boolean {
    return !this.#isOver && this.#chat.state.activeTurn?.id === this.id;
  }

  async run(agent: Promise<AgentSession>): Promise<void> {
    try {
      const opened = await agent;
      await this.#course.begin();
      // Cancelled meanwhile: the agent never gets the turn.
      this.signal.throwIfAborted();
      do {
        const held = this.nextStep();
        if (held) await held;
        await this.#runAgent(opened);
      } while (await this.#course.goesOn());
      this.write({ type: 'chat/turnComplete', turnId: this.id, duration: 0 });
    } catch (error) {
      if (this.isActive) this.#options.logger.log('warn', 'a turn failed', { session: this.#chat.session.uri });
      const resumable = this.#chat.canResume && !isFinal(error);
      const part = { kind: 'error' as const, error: errorInfo(error), ...(resumable && { resumable }) };
      this.write({ type: 'chat/error', turnId: this.id, duration: 0, part });
    }
  }

  /** Runs the agent, and writes all its text, so that extensions asked about the end see everything. */
  async #runAgent(agent: AgentSession): Promise<void> {
    this.#usedBefore = this.#chat.state.activeTurn?.usage;
    const isUnable = this.#options.backend?.abilities.compacts !== true;
    if (isUnable && compactCommand(this.message) !== undefined) return this.notify(NO_COMPACTION);
    await agent.runTurn(this);
    this.flushText();
  }

  /** Stops the agent: the turn has ended in the state, and nothing more that the agent says counts. */
  stop(): void {
    this.#isOver = true;
    this.#abort.abort(new TurnOverError());
    this.#waiters.abandon();
  }

  /** Writes an action of this turn; drops it if the turn has ended. */
  write(action: ChatAction): void {
    if (!this.isActive) return;
    if (this.#window && isJoinable(action)) return this.#window.take(action);
    this.flushText();
    this.#put(action);
  }

  #put(action: ChatAction): void {
    if (!this.isActive) return;
    this.#chat.write(action);
    this.#stream.wrote(action);
  }

  /** Writes text that still waits for more. */
  flushText(): void {
    this.#window?.flush();
  }

  #newWindow({ clock, writer, watchers }: ChatOptions): TextJoiner {
    const audience = () => watchers.audienceOf(this.#chat.uri);
    return new TextJoiner({ clock, writer, audience, write: (action) => this.#put(action) });
  }

  /** Wakes what waited for this stored step. */
  observe(step: Step<ChatState>): void {
    this.#waiters.observe(step);
  }

  /** Looks again at what waits for clients: the active clients have changed. */
  clientsChanged(): void {
    this.#waiters.recheck(this.#chat.committed);
  }

  /** Finds a call of this turn, while the turn is running. */
  call(toolCallId: string, { activeTurn }: ChatState = this.#chat.state): ToolCallState | undefined {
    return activeTurn?.id === this.id ? findCall(activeTurn, toolCallId) : undefined;
  }

  /**
   * Waits until the stored state, or a stored step about one of these topics, gives a value. Rejects when the turn is
   * over.
   */
  waitFor<T>(topics: readonly string[], find: Find<T>): Promise<T> {
    const found = find(this.#chat.committed);
    if (found !== undefined) return Promise.resolve(found);
    return this.isActive ? this.#waiters.wait(topics, find) : Promise.reject(new TurnOverError());
  }

  text(content: string): void {
    if (this.isActive) this.#stream.append('markdown', content);
  }

  reasoning(content: string): void {
    if (this.isActive) this.#stream.append('reasoning', content);
  }

  /** Ends the present part: text after it begins a new one. */
  interrupt(): void {
    this.#stream.interrupt();
  }

  notify(content: string): void {
    this.#stream.note(content);
  }

  compacted(compaction: Compaction): void {
    this.#stream.compacted(compaction);
  }

  usage(usage: UsageInfo): void {
    this.write({ type: 'chat/usage', turnId: this.id, usage: plusUsage(this.#usedBefore, usage) });
  }

  title(title: string): void {
    // An agent that was made to continue may take the reason for the first message.
    const { session } = this.#chat;
    // Only the default chat says what the session is about.
    if (session.naming.isByPerson || session.chat !== this.#chat) return;
    if (this.#course.wasContinued || !this.isActive) return;
    session.write({ type: 'session/titleChanged', title: shorten(title, TITLE_MAX_CHARACTERS) });
  }

  activity(activity: string | undefined): void {
    this.write({ type: 'chat/activityChanged', activity: activity && shorten(activity, ACTIVITY_MAX_CHARACTERS) });
  }

  plan(tasks: readonly PlannedTask[]): void {
    if (this.isActive) this.#chat.session.plans.set({ chat: this.#chat.uri, turnId: this.id }, tasks);
  }

  tools(): ToolDefinition[] {
    return this.#calls.offered();
  }

  hiddenTools(): (toolName: string) => boolean {
    return this.#chat.session.extensions.hidden(this.#chat.uri);
  }

  callTool(call: ToolRequest): Promise<ToolOutcome> {
    return this.#calls.call(call);
  }

  beginCall(call: CallStart): BegunCall {
    return this.#calls.begin(call);
  }

  agentRunCall(call: AgentRunCallStart): AgentRunCall {
    return this.#calls.beginAgentRun(call);
  }

  scriptedTool(call: ScriptedToolCall): Promise<ToolOutcome> {
    return this.#calls.runScripted(call);
  }

  ask(request: ChatInputRequest): Promise<InputOutcome> {
    return askPerson(this, this.#options, request);
  }

  renderPrompt(pristine?: Sections, projectInstructions?: string): Promise<Sections> {
    this.flushText();
    this.#prompt ??= new TurnPrompt(promptContextOf(this, this.#options));
    return this.#prompt.render(pristine, projectInstructions);
  }

  openWorker(start: WorkerStart): OpenWorker {
    return this.#workers.open(start);
  }

  nextStep(): Promise<void> | undefined {
    const { id: turnId, chat, signal } = this;
    const step = { session: chat.session, chat, turnId, signal };
    const held = this.#options.services.flatMap((service) => service.beforeStep?.(step) ?? []);
    return held.length === 0 ? undefined : Promise.all(held).then(() => {});
  }

  caughtUp(): Promise<void> | undefined {
    const storing = this.#options.writer.caughtUp();
    return storing && untilAborted(this.signal, storing).catch(() => {});
  }

  takeSteering(): Message | undefined {
    const message = this.#chat.state.steeringMessage;
    if (!message || !this.isActive) return undefined;
    this.write({ type: 'chat/pendingMessageRemoved', kind: 'steering', id: message.id });
    this.#stream.steered(message.message);
    return this.#chat.readableSteering(message);
  }
}

/**
 * The beginning and the end of a turn, as far as extensions and people influence them: what the agent is told beside
 * the message, and whether it has to continue.
 */
export class TurnLifecycle {
  readonly #turn: TurnRunner;
  readonly #options: ChatOptions;
  #message: Message;
  #context: readonly string[] = [];
  #hasNewMessage = false;
  /** How often extensions have made the agent continue. */
  #sentOn = 0;

  constructor(turn: TurnRunner, options: ChatOptions, message: Message) {
    this.#turn = turn;
    this.#options = options;
    this.#message = message;
  }

  /** The message that the agent works on: the turn's, or the one it has to continue with. */
  get message(): Message {
    return this.#message;
  }

  get context(): readonly string[] {
    return this.#context;
  }

  /** True when the agent continues with another message than the turn's. */
  get hasNewMessage(): boolean {
    return this.#hasNewMessage;
  }

  get wasContinued(): boolean {
    return this.#sentOn > 0;
  }

  /** Asks extensions before the agent gets the turn: they may add context, or stop it. */
  async begin(): Promise<void> {
    const { id: turnId, agent, chat } = this.#turn;
    await this.#readContents();
    const isFirst = chat.session.chats.every(({ state }) => state.turns.length === 0);
    const text = { text: this.#message.text, ...(isLiteral(this.#message) && { isLiteral: true }) };
    const opening = { chat: chat.uri, turnId, ...text, agent, isFirst };
    await untilReady(this.#extensionContext());
    if (isWorker(chat)) return this.#beginWorker();
    // Ask again for a resumed turn: it may have failed before they were asked, and what they add is not stored.
    const advice = await adviceFor(
      (extension, stopped) => extension.beforeTurn?.(opening, stopped),
      this.#extensionContext(),
    );
    if (advice.blocked !== undefined) throw new AgentError('blocked', advice.blocked);
    const known = new Set(this.#turn.soFar?.map((part) => part.kind === 'systemNotification' && part.content));
    for (const note of advice.notes) if (!known.has(note)) this.#turn.notify(note);
    const attached = await attachedTranscripts(this.#message, this.#options.open);
    const excerpts = await attachedExcerpts(this.#message, this.#turn.workingDirectories);
    this.#context = [...this.#selected(), ...attached, ...excerpts, ...advice.context];
  }

  /** Prepares attachments for the agent. People get a note about those that it does not get. */
  async #readContents(): Promise<void> {
    const { message, notes } = await readableContents(this.#message, this.#options.blobs);
    this.#message = message;
    if (!this.#turn.soFar) for (const note of notes) this.#turn.notify(note);
  }

  async #beginWorker(): Promise<void> {
    const worker = this.#worker();
    const { context, notes } = await adviceFor(
      (extension, stopped) => extension.beforeWorker?.(worker, stopped),
      this.#extensionContext(),
    );
    for (const note of notes) this.#turn.notify(note);
    this.#context = [WORKER_ADVICE, ...context];
  }

  #worker(): WorkerTurn {
    const { id: turnId, chat } = this.#turn;
    return { chat: chat.uri, turnId, title: chat.state.title };
  }

  /** A side chat may be about words selected in the other chat. */
  #selected(): readonly string[] {
    const { origin, turns } = this.#turn.chat.state;
    if (origin?.kind !== 'sideChat' || turns.length > 0) return [];
    const { selection } = origin as ChatSideChatOrigin;
    return selection
      ? [`The person selected these words of the conversation, and asks about them:\n${selection.text}`]
      : [];
  }

  /**
   * Decides whether the turn goes on. If extensions object to its end, the agent gets the reason as a message, and
   * people see it.
   */
  async goesOn(): Promise<boolean> {
    const seen = this.#turn.chat.state.steeringMessage?.id;
    const reason = await objectionTo(this.#endQuestion(), this.#extensionContext());
    if (reason === undefined) return this.#isSteeredOn(seen);
    this.#turn.notify(reason);
    if (this.#options.worker?.agent) {
      this.#turn.notify('The worker ends anyway: its agent runs it by itself, so it cannot be made to continue.');
      return false;
    }
    if (this.#sentOn === TURN_CONTINUED_MAX) {
      this.#turn.notify(
        `The turn ends anyway: the agent has already been made to continue ${TURN_CONTINUED_MAX} times.`,
      );
      return false;
    }
    this.#sentOn += 1;
    const text = `[Not written by a person. You were about to stop, but:]\n${reason}`;
    this.#continueWith({ text, origin: { kind: 'systemNotification' } });
    return true;
  }

  #endQuestion(): Question<string | undefined> {
    const { id: turnId, chat } = this.#turn;
    const { wasContinued } = this;
    if (!isWorker(chat)) return (extension, stopped) => extension.beforeEnd?.({ turnId, wasContinued }, stopped);
    const ending = { ...this.#worker(), wasContinued, lastText: lastText(chat.state.activeTurn?.responseParts ?? []) };
    return (extension, stopped) => extension.beforeWorkerEnd?.(ending, stopped);
  }

  /**
   * Continues with a new steering message: extensions take time, and a person may have written one meanwhile. The agent
   * has already seen earlier ones.
   */
  #isSteeredOn(seen: string | undefined): boolean {
    const { state } = this.#turn.chat;
    const isNew = state.steeringMessage !== undefined && state.steeringMessage.id !== seen;
    const message = isNew && this.#options.backend?.abilities.steer ? this.#turn.takeSteering() : undefined;
    if (message) this.#continueWith(message);
    return message !== undefined;
  }

  #continueWith(message: Message): void {
    this.#message = message;
    this.#hasNewMessage = true;
    this.#context = [];
  }

  #extensionContext() {
    const { chat, signal } = this.#turn;
    const { clock, logger } = this.#options;
    return { extensions: chat.session.extensions.all(), signal, clock, logger };
  }
}

function lastText(parts: readonly ResponsePart[]): string {
  const spoken = parts.findLast((part) => part.kind === 'markdown' && part.content !== '');
  return spoken?.kind === 'markdown' ? spoken.content : '';
}

/** Removes errors: why the turn failed before is not part of what the agent said. */
function withoutErrors(parts: readonly ResponsePart[]): readonly ResponsePart[] {
  return parts.filter(({ kind }) => kind !== 'error');
}

/** True for a turn that an extension stopped: it would stop it again. */
function isFinal(error: unknown): boolean {
  return error instanceof AgentError && error.errorType === 'blocked';
}
