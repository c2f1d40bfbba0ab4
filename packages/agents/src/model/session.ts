/**
 * A session of the model agent. It asks the model, shows the answer, runs the tool calls and asks again. For every step
 * it reads the prompt, the tools and the model again, so that a person's change takes effect at once.
 */

import type { ModelMessage } from '@ai-sdk/provider-utils';
import { AgentError, type AgentOpenContext, type AgentSession, type AgentTurn } from '@atrium/core/contracts/agent.js';
import { untilAborted } from '@atrium/core/util/waiting.js';
import { compactCommand } from '@atrium/protocol/ahp-1';
import { type ModelInfo, optionsFor } from '../shared/agent-info.js';
import { attachedImages, titleFrom } from '../shared/messages.js';
import { modelError } from '../shared/model-errors.js';
import { toolTable } from '../shared/tool-names.js';
import { AnswerReader, abandonedResults, runCalls } from './answer.js';
import type { ModelAgentOptions } from './backend.js';
import { messageIn, type UsageMeter } from './compaction.js';
import { ContextWindow } from './context-window.js';
import {
  type Conversation,
  EMPTY_CONVERSATION,
  messagesOf,
  touchedFiles,
  upToTurn,
  visionOf,
  withExchange,
  withMessages,
  withNewestImages,
} from './conversation.js';
import { answersOf, conversationOf, userMessage, withSummaries } from './history.js';
import { systemPrompt } from './prompt.js';
import { type AnswerUsage, askModel, type StepRequest } from './request.js';
import { usageInfo } from './usage.js';

/** Most requests to the model in one turn; then the session stops the turn. */
export const STEPS_MAX = 50;
/** How many finished turns a resumed session remembers. */
const HISTORY_TURNS_MAX = 200;
/** What the model reads when a turn that was cut off goes on. */
const INTERRUPTED =
  '[Not written by the person. Your answer was cut off here. Go on where you stopped. Do not repeat what you said, and ' +
  'do not run a tool again that has run, unless its result says that it was interrupted.]';

export class ModelSession implements AgentSession {
  readonly #options: ModelAgentOptions;
  readonly #context: AgentOpenContext;
  readonly #window: ContextWindow;
  #conversation: Conversation = EMPTY_CONVERSATION;
  /**
   * Settles when the last turn has ended, which for a cancelled turn takes a moment. The next turn waits for it, so
   * that they do not mix.
   */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(options: ModelAgentOptions, context: AgentOpenContext) {
    this.#options = options;
    this.#context = context;
    this.#window = new ContextWindow(options);
  }

  static async open(options: ModelAgentOptions, context: AgentOpenContext): Promise<ModelSession> {
    const session = new ModelSession(options, context);
    session.#conversation = await session.#recalled();
    return session;
  }

  runTurn(turn: AgentTurn): Promise<void> {
    const running = this.#last.then(() => this.#runTurn(turn));
    this.#last = running.catch(() => {});
    return running;
  }

  async #runTurn(turn: AgentTurn): Promise<void> {
    const keep = compactCommand(turn.message);
    if (keep !== undefined) return this.#compact(turn, keep);
    const isKnown = turn.soFar !== undefined && this.#conversation.exchanges.at(-1)?.turnId === turn.id;
    if (!isKnown) await this.#begin(turn);
    if (turn.soFar?.length) this.#remember([{ role: 'user', content: INTERRUPTED }]);
    const usage = new TurnUsage(turn);
    for (let step = 0; step < STEPS_MAX; step++) {
      const hasCalled = await this.#step(turn, usage);
      const isSteered = this.#steer(turn);
      if (!hasCalled && !isSteered) return;
    }
    turn.notify(`Stopped after ${STEPS_MAX} steps of the model. Send a message to let it go on.`);
  }

  /** Begins a turn. One that is resumed after a restart begins with what it has said and done. */
  async #begin(turn: AgentTurn): Promise<void> {
    const { id: turnId, message, context, soFar = [] } = turn;
    const isFirst = this.#conversation.exchanges.length === 0;
    const images = await untilAborted(turn.signal, attachedImages(message, turn.workingDirectories));
    if (soFar.length === 0) this.#warnUnseenPictures(turn, images.length);
    const messages = [userMessage(message, { context, images }), ...answersOf(soFar)];
    this.#conversation = withSummaries(withExchange(this.#conversation, { turnId, messages }), turnId, soFar);
    if (isFirst && soFar.length === 0) turn.title(titleFrom(message.text) || 'Untitled');
  }

  /** Tells people that the model cannot see pictures: not every client says so before a message is sent. */
  #warnUnseenPictures(turn: AgentTurn, pictures: number): void {
    if (pictures === 0) return;
    const model = this.#modelFor(turn);
    if (visionOf(this.#options.kind, model) !== 'none') return;
    const why = model.supportsVision === undefined ? 'is not known to see' : 'cannot see';
    turn.notify(
      `${model.name} ${why} pictures, and is only told that there ${pictures === 1 ? 'is one' : `are ${pictures}`}.`,
    );
  }

  /**
   * Handles `/compact`: the turn ends when the older turns are summarised. It does not become part of the model's
   * memory.
   */
  async #compact(turn: AgentTurn, keep: string): Promise<void> {
    const { id: turnId, soFar = [] } = turn;
    const before = withExchange(this.#conversation, { turnId, messages: [] });
    const done = withSummaries(before, turnId, soFar);
    this.#conversation = done;
    if (done.summaryTurn === turnId) return;
    const model = this.#modelFor(turn);
    const system = await untilAborted(turn.signal, systemPrompt(turn));
    const others = { system, tools: turn.tools() };
    const request = { turn, model, conversation: before, others, meter: new TurnUsage(turn) };
    try {
      const shorter = await this.#window.compact(request, keep);
      if (shorter) this.#conversation = shorter;
      else turn.notify('There is nothing to sum up yet.');
    } catch (error) {
      turn.signal.throwIfAborted();
      const why = `Nothing was summed up, and nothing is lost: ${messageIn(error)}`;
      throw new AgentError('compaction-failed', why);
    }
  }

  async truncated(turnId: string | undefined): Promise<void> {
    await this.#last;
    const known = turnId === undefined ? undefined : upToTurn(this.#conversation, turnId);
    // If the cut leaves nothing, turns that were cut off before may be back.
    this.#conversation = known ?? (await this.#recalled());
  }

  async close(): Promise<void> {}

  async #recalled(): Promise<Conversation> {
    return conversationOf(await this.#context.history(HISTORY_TURNS_MAX));
  }

  /** Reads one answer of the model and runs its calls. Returns true if it had any. */
  async #step(turn: AgentTurn, usage: TurnUsage): Promise<boolean> {
    const held = turn.nextStep();
    if (held) await held;
    const model = this.#modelFor(turn);
    turn.interrupt();
    const reader = await this.#answer(turn, model, usage);
    if (reader.note !== undefined) turn.notify(reader.note);
    if (reader.calls.length > 0) await this.#run(turn, reader);
    return reader.calls.length > 0;
  }

  /**
   * Asks for an answer. A server may accept less than the model's window; after such a refusal, it asks once more with
   * less.
   */
  async #answer(turn: AgentTurn, model: ModelInfo, usage: TurnUsage): Promise<AnswerReader> {
    const tools = toolTable(turn.tools());
    const system = await untilAborted(turn.signal, systemPrompt(turn, touchedFiles(this.#conversation)));
    const others = { system, tools: [...tools.values()] };
    for (let attempt = 1; ; attempt++) {
      const request = { turn, model, conversation: withNewestImages(this.#conversation), others };
      const fitted = await this.#window.fit({ ...request, meter: usage });
      this.#conversation = fitted;
      const messages = messagesOf(fitted, visionOf(this.#options.kind, model));
      try {
        const onRequest = () => usage.requested();
        const options = optionsFor(model, turn.model?.config);
        const around = { signal: turn.signal, onRequest, caughtUp: () => turn.caughtUp() };
        const step = { modelId: model.id, system, messages, tools, options, ...around };
        const reader = await this.#ask(turn, step, usage);
        this.#window.answered(model);
        return reader;
      } catch (error) {
        const isTooLong = error instanceof AgentError && error.errorType === 'context-overflow';
        const hasSpoken = this.#conversation !== fitted;
        if (!isTooLong || hasSpoken || attempt > 1) throw error;
        if (!this.#window.refused({ ...request, conversation: fitted })) throw error;
      }
    }
  }

  /** Asks the model. If that fails, remembers what it had said, because people have seen it. */
  async #ask(turn: AgentTurn, request: StepRequest, usage: TurnUsage): Promise<AnswerReader> {
    const reader = new AnswerReader(turn, request.tools);
    const { displayName, baseURL } = this.#options;
    try {
      const onWait = (why: string | undefined) => turn.activity(why && `${displayName} ${why}`);
      const answered = reader.read((take) => askModel(this.#options, { ...request, onWait }, take));
      this.#remember(await untilAborted(turn.signal, answered));
      return reader;
    } catch (error) {
      this.#remember(reader.partial());
      turn.signal.throwIfAborted();
      throw modelError(error, { displayName, baseURL, modelId: request.modelId, hasBegun: reader.hasBegun });
    } finally {
      // Also counts an answer that broke off.
      usage.add(reader.usage, request.modelId);
    }
  }

  async #run(turn: AgentTurn, { calls }: AnswerReader): Promise<void> {
    try {
      this.#remember([await runCalls(turn, calls)]);
    } catch (error) {
      // A call without a result would make every later request invalid.
      this.#remember([abandonedResults(calls)]);
      throw error;
    }
  }

  /** Takes a message that a person sent meanwhile. The model gets it with its next step. */
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

const NOTHING_SPENT: AnswerUsage = {
  input: undefined,
  output: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  reasoning: undefined,
};

/** Adds up the tokens of one turn, and shows each change. */
class TurnUsage implements UsageMeter {
  readonly #turn: AgentTurn;
  #spent = NOTHING_SPENT;
  #requests = 0;

  constructor(turn: AgentTurn) {
    this.#turn = turn;
  }

  /** Counts a request that is sent, possibly after others that failed. */
  requested(): void {
    this.#requests += 1;
  }

  /** Adds the usage of a request. A server that does not count adds nothing. */
  add(usage: AnswerUsage | undefined, modelId: string, contextTokens?: number): void {
    if (!usage) return;
    this.#spent = plusSpent(this.#spent, usage);
    const context = contextTokens ?? sum(usage.input, usage.output);
    this.#turn.usage(usageInfo(this.#spent, modelId, { context, requests: this.#requests }));
  }
}

function plusSpent(spent: AnswerUsage, usage: AnswerUsage): AnswerUsage {
  return {
    input: sum(spent.input, usage.input),
    output: sum(spent.output, usage.output),
    cacheRead: sum(spent.cacheRead, usage.cacheRead),
    cacheWrite: sum(spent.cacheWrite, usage.cacheWrite),
    reasoning: sum(spent.reasoning, usage.reasoning),
  };
}

function sum(before: number | undefined, more: number | undefined): number | undefined {
  return before === undefined && more === undefined ? undefined : (before ?? 0) + (more ?? 0);
}
