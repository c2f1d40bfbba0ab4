/**
 * The loop: ask the model, show what it says, run the tools it calls, ask again. Prompt, tools and model are taken anew
 * for every step, so a change by a person counts at once.
 */
import type { ModelMessage } from 'ai';
import { count } from '../../tools/text.js';
import { AgentError, type AgentOpenContext, type AgentSession, type AgentTurn } from '../agent.js';
import { titleFrom } from '../offline/title.js';
import { untilAborted } from '../scripted/pace.js';
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
import { CONTEXT_WINDOW_DEFAULT_TOKENS, HISTORY_TURNS_MAX, STEPS_MAX } from './limits.js';
import type { ModelAgentOptions, ModelInfo } from './model-agent.js';
import { systemPrompt } from './prompt.js';
import { type StepRequest, startStep } from './sdk.js';
import { StepReader } from './step.js';
import { type ToolTable, toolTable } from './tool-table.js';
import { NOTHING_SPENT, plusUsage, type Spent, usageInfo } from './usage.js';
import { fit, roomFor } from './window.js';

/** What a person should know about the end of a step. */
const FINISH_NOTES: Readonly<Record<string, string>> = {
  length: "The answer was cut off at the model's output limit. Ask it to go on.",
  'content-filter': "The provider's filter ended the answer.",
};

export class ModelSession implements AgentSession {
  readonly #options: ModelAgentOptions;
  readonly #context: AgentOpenContext;
  #conversation: Conversation = EMPTY_CONVERSATION;

  private constructor(options: ModelAgentOptions, context: AgentOpenContext) {
    this.#options = options;
    this.#context = context;
  }

  static async open(options: ModelAgentOptions, context: AgentOpenContext): Promise<ModelSession> {
    const session = new ModelSession(options, context);
    await session.#recall();
    return session;
  }

  async runTurn(turn: AgentTurn): Promise<void> {
    const isFirst = this.#conversation.exchanges.length === 0;
    this.#conversation = withExchange(this.#conversation, { turnId: turn.id, messages: [userMessage(turn.message)] });
    if (isFirst) turn.title(titleFrom(turn.message.text) || 'Untitled');
    let spent = NOTHING_SPENT;
    for (let step = 0; step < STEPS_MAX; step++) {
      const result = await this.#step(turn, spent);
      spent = result.spent;
      if (!result.goesOn && !this.#steer(turn)) return;
      if (result.goesOn) this.#steer(turn);
    }
    turn.notify(`Stopped after ${STEPS_MAX} steps of the model. Send a message to let it go on.`);
  }

  async truncated(turnId: string | undefined): Promise<void> {
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

  async #step(turn: AgentTurn, before: Spent): Promise<{ goesOn: boolean; spent: Spent }> {
    const model = this.#modelFor(turn);
    const tools = toolTable(turn.tools());
    const sections = await untilAborted(turn.signal, turn.renderPrompt());
    const system = systemPrompt(sections, turn.workingDirectory);
    this.#makeRoom(turn, model, { system, tools: [...tools.values()] });
    const messages = messagesOf(this.#conversation);
    const reader = await this.#ask(turn, { modelId: model.id, system, messages, tools, signal: turn.signal });
    const spent = reader.usage ? plusUsage(before, reader.usage) : before;
    if (reader.usage) turn.usage(usageInfo(spent, model.id));
    const note = FINISH_NOTES[reader.finishReason ?? ''];
    if (note !== undefined) turn.notify(note);
    if (reader.calls.length > 0) await this.#run(turn, reader, tools);
    return { goesOn: reader.calls.length > 0, spent };
  }

  /** What was said before a failure is remembered, as it is on everybody's screen. */
  async #ask(turn: AgentTurn, request: StepRequest): Promise<StepReader> {
    const reader = new StepReader(turn);
    try {
      const stream = await startStep(this.#options, request);
      this.#remember(await untilAborted(turn.signal, reader.read(stream)));
      return reader;
    } catch (error) {
      this.#remember(reader.partial());
      turn.signal.throwIfAborted();
      const { displayName, baseURL } = this.#options;
      throw modelError(error, { displayName, baseURL, modelId: request.modelId });
    }
  }

  async #run(turn: AgentTurn, { calls }: StepReader, tools: ToolTable): Promise<void> {
    try {
      this.#remember([await runCalls(turn, calls, tools)]);
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

  #makeRoom(turn: AgentTurn, model: ModelInfo, others: unknown): void {
    const window = model.maxContextWindow ?? CONTEXT_WINDOW_DEFAULT_TOKENS;
    const { conversation, shortened, dropped } = fit(this.#conversation, roomFor(window, others));
    this.#conversation = conversation;
    const why = `to stay within the ${window} tokens of ${model.name}.`;
    if (shortened > 0) turn.notify(`Shortened ${count(shortened, 'tool output')} in the model's memory ${why}`);
    if (dropped > 0) turn.notify(`Left the oldest ${count(dropped, 'turn')} out of the model's memory ${why}`);
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
