/**
 * The loop: ask the model, show what it says, run the tools it calls, ask again. Prompt, tools and model are taken anew
 * for every step, so a change by a person counts at once.
 */
import type { ModelMessage } from 'ai';
import { AgentError, type AgentOpenContext, type AgentSession, type AgentTurn } from '../../core/contracts/agent.js';
import { untilAborted } from '../../core/util/waiting.js';
import { titleFrom } from '../offline/title.js';
import { attachedImages } from './attachments.js';
import { abandoned, runCalls } from './calls.js';
import {
  type Conversation,
  EMPTY_CONVERSATION,
  messagesOf,
  upToTurn,
  withExchange,
  withMessages,
} from './conversation.js';
import { modelError } from './errors.js';
import { exchangeOf, userMessage } from './history.js';
import { withNewestImages } from './image-memory.js';
import { HISTORY_TURNS_MAX, STEPS_MAX } from './limits.js';
import type { ModelAgentOptions, ModelInfo } from './model-agent.js';
import { systemPrompt } from './prompt.js';
import { RoomKeeper } from './room.js';
import { type StepRequest, startStep } from './sdk.js';
import { sightOf } from './sight.js';
import { StepReader } from './step.js';
import { noteOn } from './step-notes.js';
import { toolTable } from './tool-table.js';
import { TurnUsage } from './usage.js';

export class ModelSession implements AgentSession {
  readonly #options: ModelAgentOptions;
  readonly #context: AgentOpenContext;
  readonly #room: RoomKeeper;
  #conversation: Conversation = EMPTY_CONVERSATION;
  /** A cancelled turn may still be ending when the next begins; what it remembers belongs to itself. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(options: ModelAgentOptions, context: AgentOpenContext) {
    this.#options = options;
    this.#context = context;
    this.#room = new RoomKeeper(options);
  }

  static async open(options: ModelAgentOptions, context: AgentOpenContext): Promise<ModelSession> {
    const session = new ModelSession(options, context);
    await session.#recall();
    return session;
  }

  runTurn(turn: AgentTurn): Promise<void> {
    const running = this.#last.then(() => this.#runTurn(turn));
    this.#last = running.catch(() => {});
    return running;
  }

  async #runTurn(turn: AgentTurn): Promise<void> {
    const { id: turnId, message, context } = turn;
    const isFirst = this.#conversation.exchanges.length === 0;
    const images = await untilAborted(turn.signal, attachedImages(message, turn.workingDirectory));
    const messages = [userMessage(message, { context, images })];
    this.#conversation = withExchange(this.#conversation, { turnId, messages });
    if (isFirst) turn.title(titleFrom(message.text) || 'Untitled');
    const usage = new TurnUsage(turn);
    for (let step = 0; step < STEPS_MAX; step++) {
      const hasCalled = await this.#step(turn, usage);
      const isSteered = this.#steer(turn);
      if (!hasCalled && !isSteered) return;
    }
    turn.notify(`Stopped after ${STEPS_MAX} steps of the model. Send a message to let it go on.`);
  }

  async truncated(turnId: string | undefined): Promise<void> {
    await this.#last;
    if (turnId === undefined) this.#conversation = EMPTY_CONVERSATION;
    else this.#conversation = upToTurn(this.#conversation, turnId) ?? (await this.#recalled());
  }

  async close(): Promise<void> {}

  async #recall(): Promise<void> {
    this.#conversation = await this.#recalled();
  }

  async #recalled(): Promise<Conversation> {
    const turns = await this.#context.history(HISTORY_TURNS_MAX);
    return { leftOut: [], exchanges: turns.map(exchangeOf) };
  }

  /** One answer of the model, and the calls that it makes. Says whether there were any. */
  async #step(turn: AgentTurn, usage: TurnUsage): Promise<boolean> {
    const model = this.#modelFor(turn);
    const reader = await this.#answer(turn, model, usage);
    usage.add(reader.usage, model.id);
    const note = noteOn(reader);
    if (note !== undefined) turn.notify(note);
    if (reader.calls.length > 0) await this.#run(turn, reader);
    return reader.calls.length > 0;
  }

  /** A server may take less than it should. When it says so, it is asked once more, with less. */
  async #answer(turn: AgentTurn, model: ModelInfo, usage: TurnUsage): Promise<StepReader> {
    const tools = toolTable(turn.tools());
    const system = await untilAborted(turn.signal, systemPrompt(turn));
    const others = { system, tools: [...tools.values()] };
    for (let attempt = 1; ; attempt++) {
      const request = { turn, model, conversation: withNewestImages(this.#conversation), others };
      const room = await this.#room.make(request);
      usage.add(room.usage, model.id);
      this.#conversation = room.conversation;
      const messages = messagesOf(room.conversation, sightOf(this.#options.kind, model));
      try {
        const reader = await this.#ask(turn, { modelId: model.id, system, messages, tools, signal: turn.signal });
        this.#room.answered(model);
        return reader;
      } catch (error) {
        const isTooLong = error instanceof AgentError && error.errorType === 'context-overflow';
        const hasSpoken = this.#conversation !== room.conversation;
        if (!isTooLong || hasSpoken || attempt > 1) throw error;
        if (!this.#room.tooLong({ ...request, conversation: room.conversation })) throw error;
      }
    }
  }

  /** What was said before a failure is remembered, as it is on everybody's screen. */
  async #ask(turn: AgentTurn, request: StepRequest): Promise<StepReader> {
    const reader = new StepReader(turn, request.tools);
    const { displayName, baseURL } = this.#options;
    try {
      const onWait = (why: string | undefined) => turn.activity(why && `${displayName} ${why}`);
      const stream = await startStep(this.#options, { ...request, onWait });
      this.#remember(await untilAborted(turn.signal, reader.read(stream)));
      return reader;
    } catch (error) {
      this.#remember(reader.partial());
      turn.signal.throwIfAborted();
      throw modelError(error, { displayName, baseURL, modelId: request.modelId, hasBegun: reader.hasBegun });
    }
  }

  async #run(turn: AgentTurn, { calls }: StepReader): Promise<void> {
    try {
      this.#remember([await runCalls(turn, calls)]);
    } catch (error) {
      // A call without a result would make every later request invalid.
      this.#remember([abandoned(calls)]);
      throw error;
    }
  }

  /** Takes what a person said meanwhile; the model hears it before its next step. */
  #steer(turn: AgentTurn): boolean {
    const message = turn.takeSteering();
    if (message) this.#remember([userMessage(message)]);
    return message !== undefined;
  }

  #modelFor({ model }: AgentTurn): ModelInfo {
    const { models, displayName } = this.#options;
    const id = model?.id ?? models[0]?.id;
    if (id === undefined)
      throw new AgentError('model-not-found', `${displayName} has no models. Give it at least one.`);
    return models.find((known) => known.id === id) ?? { id, name: id };
  }

  #remember(messages: readonly ModelMessage[]): void {
    this.#conversation = withMessages(this.#conversation, messages);
  }
}
