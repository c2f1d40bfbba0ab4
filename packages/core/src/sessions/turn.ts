/**
 * How an agent runs. The runner hands the backend a turn to work with, and turns everything that the backend does into actions.
 * It waits on the stored state, never on a message: whichever client answers, the state tells.
 */
import { setMaxListeners } from 'node:events';
import type {
  ActiveTurn,
  AgentSelection,
  ModelSelection,
  SessionAction,
  SessionInputRequest,
  SessionState,
  ToolCallState,
  ToolDefinition,
  UsageInfo,
  UserMessage,
} from '@atrium/protocol';
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
  type ScriptedToolCall,
  type ToolOutcome,
  type ToolRequest,
} from '../contracts/agent.js';
import { TurnPrompt } from '../prompt/turn-prompt.js';
import { ToolCalls } from '../tool-calls/tool-calls.js';
import { folderOf } from '../util/folders.js';
import type { Sections } from '../util/prompt-sections.js';
import { shorten } from '../util/text.js';
import { adviceFor, objectionTo, untilReady } from './extensions.js';
import { ACTIVITY_MAX_CHARACTERS, TITLE_MAX_CHARACTERS, TURN_CONTINUED_MAX } from './limits.js';
import { askPerson } from './questions.js';
import type { Session, SessionOptions } from './session.js';
import { AgentOpener } from './session-agent.js';
import { TurnStream } from './turn-output.js';
import { callContextOf, promptContextOf } from './turn-ports.js';
import { CallIndex, type Find, TurnOverError, Waiters } from './waiters.js';

export class TurnRunner implements AgentTurn {
  readonly id: string;
  readonly model: ModelSelection | undefined;
  readonly agent: AgentSelection | undefined;
  readonly workingDirectory: string | undefined;
  readonly #session: Session;
  readonly #options: SessionOptions;
  readonly #abort = new AbortController();
  readonly #waiters = new Waiters();
  readonly #callIndex = new CallIndex();
  readonly #course: TurnLifecycle;
  readonly #stream: TurnStream;
  readonly #calls: ToolCalls;
  #prompt: TurnPrompt | undefined;

  constructor(session: Session, options: SessionOptions, turn: ActiveTurn) {
    this.#session = session;
    this.#options = options;
    // Every call that runs listens, and a model may make many at once.
    setMaxListeners(0, this.#abort.signal);
    this.id = turn.id;
    this.#stream = new TurnStream(turn.id, (action) => this.write(action));
    this.#course = new TurnLifecycle(this, options, turn.userMessage);
    this.model = session.state.summary.model;
    this.agent = session.state.summary.agent;
    this.workingDirectory = folderOf(session.state);
    this.#calls = new ToolCalls(callContextOf(this, options));
  }

  get message(): UserMessage {
    return this.#course.message;
  }

  get context(): readonly string[] {
    return this.#course.context;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get session(): Session {
    return this.#session;
  }

  /** Whether this turn is still the one that is running. */
  get isActive(): boolean {
    return !this.#abort.signal.aborted && this.#session.state.activeTurn?.id === this.id;
  }

  async run(agent: Promise<AgentSession>): Promise<void> {
    try {
      const opened = await agent;
      await this.#course.begin();
      // Cancelled meanwhile: the agent never hears of it.
      this.signal.throwIfAborted();
      do await opened.runTurn(this);
      while (await this.#course.goesOn());
      this.write({ type: 'session/turnComplete', turnId: this.id });
    } catch (error) {
      if (this.isActive) this.#options.logger.log('warn', 'a turn failed', { session: this.#session.uri });
      this.write({ type: 'session/error', turnId: this.id, error: AgentOpener.errorInfo(error) });
    }
  }

  /** The turn is over in the state: the agent is to stop, and nothing it still says counts. */
  stop(): void {
    this.#abort.abort(new TurnOverError());
    this.#waiters.abandon();
  }

  /** Takes an action of this turn; one that comes too late is dropped. */
  write(action: SessionAction): void {
    if (!this.isActive) return;
    this.#session.write(action);
    this.#stream.wrote(action);
  }

  /** A step has been stored. */
  observe(step: Step<SessionState>): void {
    this.#waiters.observe(step);
  }

  /** A call of this turn, while it is running. */
  call(toolCallId: string, { activeTurn }: SessionState = this.#session.state): ToolCallState | undefined {
    return activeTurn?.id === this.id ? this.#callIndex.find(activeTurn.responseParts, toolCallId) : undefined;
  }

  /**
   * Waits until a stored step about one of these topics, or the state that is stored already, gives a value. Rejects when
   * the turn is over.
   */
  waitFor<T>(topics: readonly string[], find: Find<T>): Promise<T> {
    const found = find(this.#session.committed);
    if (found !== undefined) return Promise.resolve(found);
    return this.isActive ? this.#waiters.wait(topics, find) : Promise.reject(new TurnOverError());
  }

  text(content: string): void {
    if (this.isActive) this.#stream.say('markdown', content);
  }

  reasoning(content: string): void {
    if (this.isActive) this.#stream.say('reasoning', content);
  }

  /** Something else comes next: text after it is a part of its own. */
  interrupt(): void {
    this.#stream.interrupt();
  }

  notify(content: string): void {
    this.#stream.note(content);
  }

  usage(usage: UsageInfo): void {
    this.write({ type: 'session/usage', turnId: this.id, usage });
  }

  title(title: string): void {
    // An agent that is sent on may take the reason for the first message.
    if (this.#session.naming.isByPerson || this.#course.wasContinued) return;
    this.write({ type: 'session/titleChanged', title: shorten(title, TITLE_MAX_CHARACTERS) });
  }

  activity(activity: string | undefined): void {
    this.write({ type: 'session/activityChanged', activity: activity && shorten(activity, ACTIVITY_MAX_CHARACTERS) });
  }

  tools(): ToolDefinition[] {
    return this.#calls.offered();
  }

  hiddenTools(): (toolName: string) => boolean {
    return this.#session.extensions.hidden();
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

  ask(request: SessionInputRequest): Promise<InputOutcome> {
    return askPerson(this, this.#options, request);
  }

  renderPrompt(pristine?: Sections, projectInstructions?: string): Promise<Sections> {
    this.#prompt ??= new TurnPrompt(promptContextOf(this, this.#options));
    return this.#prompt.render(pristine, projectInstructions);
  }

  takeSteering(): UserMessage | undefined {
    const message = this.#session.state.steeringMessage;
    if (!message || !this.isActive) return undefined;
    this.write({ type: 'session/pendingMessageRemoved', kind: 'steering', id: message.id });
    this.#stream.steered(message.userMessage);
    return message.userMessage;
  }
}

/**
 * How a turn begins and how it comes to its end, as far as extensions and people have a say in it: what the agent is told
 * beside the message, and whether it is sent on when it is done.
 */
export class TurnLifecycle {
  readonly #turn: TurnRunner;
  readonly #options: SessionOptions;
  #message: UserMessage;
  #context: readonly string[] = [];
  /** How often extensions had something against the end of it. */
  #sentOn = 0;

  constructor(turn: TurnRunner, options: SessionOptions, message: UserMessage) {
    this.#turn = turn;
    this.#options = options;
    this.#message = message;
  }

  /** What the agent works on: the message of the turn, or what it was sent on with. */
  get message(): UserMessage {
    return this.#message;
  }

  get context(): readonly string[] {
    return this.#context;
  }

  get wasContinued(): boolean {
    return this.#sentOn > 0;
  }

  /** Extensions hear of the turn before the agent does: they may add to it, or stop it. */
  async begin(): Promise<void> {
    const { id: turnId, agent, session } = this.#turn;
    const isFirst = session.state.turns.length === 0;
    const opening = { turnId, text: this.#message.text, agent, isFirst };
    await untilReady(this.#extensionContext());
    const advice = await adviceFor(opening, this.#extensionContext());
    if (advice.blocked !== undefined) throw new AgentError('blocked', advice.blocked);
    for (const note of advice.notes) this.#turn.notify(note);
    this.#context = advice.context;
  }

  /** Extensions may object to the end: the agent hears why in place of a message, and people see it. */
  async goesOn(): Promise<boolean> {
    const seen = this.#turn.session.state.steeringMessage?.id;
    const ending = { turnId: this.#turn.id, wasContinued: this.wasContinued };
    const reason = await objectionTo(ending, this.#extensionContext());
    if (reason === undefined) return this.#isSteeredOn(seen);
    this.#turn.notify(reason);
    if (this.#sentOn === TURN_CONTINUED_MAX) {
      this.#turn.notify(`The turn ends all the same: the agent was sent on ${TURN_CONTINUED_MAX} times already.`);
      return false;
    }
    this.#sentOn += 1;
    this.#continueWith({ text: `[Not written by a person. You were about to stop, but:]\n${reason}` });
    return true;
  }

  /** Extensions take their time: a person may have said something meanwhile. What was said before, the agent has seen. */
  #isSteeredOn(seen: string | undefined): boolean {
    const { state } = this.#turn.session;
    const isNew = state.steeringMessage !== undefined && state.steeringMessage.id !== seen;
    const message = isNew && this.#options.backend?.abilities.steer ? this.#turn.takeSteering() : undefined;
    if (message) this.#continueWith(message);
    return message !== undefined;
  }

  #continueWith(message: UserMessage): void {
    this.#message = message;
    this.#context = [];
  }

  #extensionContext() {
    const { session, signal } = this.#turn;
    const { clock, logger } = this.#options;
    return { extensions: session.extensions.all(), signal, clock, logger };
  }
}
