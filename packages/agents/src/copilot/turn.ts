/** One turn of Copilot: shows its events to people, and passes its questions on to them. */

import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import { askQuestion } from '@atrium/core/contracts/ask-question.js';
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import type { UsageInfo } from '@atrium/protocol/ahp-1';
import { messageText } from '../shared/messages.js';
import type { ErrorPlace } from '../shared/model-errors.js';
import { copilotError, failureError } from './errors.js';
import type {
  HookContext,
  ModelFailure,
  SdkEvent,
  SdkSession,
  SdkToolResult,
  SdkUsage,
  ToolHookInput,
  UserQuestion,
} from './sdk.js';
import { type HostTools, TurnCalls } from './tools.js';

interface CopilotTurnOptions {
  readonly turn: AgentTurn;
  readonly session: SdkSession;
  readonly tools: HostTools;
  /** Text that only the model reads, beside the message. */
  readonly context: readonly string[];
  /** Copilot names a session that it takes for new; one that was told again has a title already. */
  readonly keepsTitle: boolean;
  readonly place: ErrorPlace;
  /** Further attempts after a failed request. */
  readonly retries: number | undefined;
  /** Copilot has taken the message of the turn, with this event. */
  begun(eventId: string): void;
}

export class CopilotTurn {
  readonly calls: TurnCalls;
  readonly #options: CopilotTurnOptions;
  readonly #turn: AgentTurn;
  readonly #over = new Settled();
  readonly #silence = new Settled();
  /** Whether Copilot has taken the message. Events before that belong to another turn. */
  #isHeard = false;
  #context: readonly string[];
  #spent: SdkUsage | undefined;
  #failures = 0;

  constructor(options: CopilotTurnOptions) {
    this.#options = options;
    this.#turn = options.turn;
    this.#context = options.context;
    this.calls = new TurnCalls(options.turn, options.tools);
  }

  /** Settles when Copilot has nothing left to do, including commands in the background. */
  async send(): Promise<void> {
    await this.#options.session.send({ prompt: messageText(this.#turn.message) });
    await this.#over.promise;
  }

  /** Settles when Copilot does not work on the turn any more. */
  get silence(): Promise<void> {
    return this.#silence.promise;
  }

  /** Shows the calls of sub-agents, but not their text. */
  take(event: SdkEvent): void {
    if (event.agentId === undefined) this.#takeText(event);
    if (event.type === 'assistant.usage') this.#use(event.data);
    this.calls.take(event);
  }

  async toolDone(input: ToolHookInput, success: boolean, output: string): Promise<HookContext | undefined> {
    const context = await this.calls.done(input, success, output);
    await this.#steer('immediate');
    return context;
  }

  async callHostTool(toolCallId: string, name: string, input: unknown): Promise<SdkToolResult> {
    const result = await this.calls.runHostTool(toolCallId, name, input);
    await this.#steer('immediate');
    return result;
  }

  answerTo(question: UserQuestion): Promise<string> {
    return answerTo(this.#turn, question);
  }

  /** The context goes with the first message only. */
  takeContext(): HookContext | undefined {
    const context = this.#context;
    this.#context = [];
    return context.length === 0 ? undefined : { additionalContext: context.join('\n\n') };
  }

  #takeText(event: SdkEvent): void {
    if (event.type === 'user.message') this.#heard(event.id);
    else if (event.type === 'session.title_changed') this.#title(event.data.title);
    else if (event.type === 'session.idle') this.#idle();
    else if (event.type === 'session.error') this.#over.reject(copilotError(event.data, this.#options.place));
    else if (event.type === 'model.call_failure') this.#failed(event.data);
    else if (this.#isHeard) this.#say(event);
  }

  #say(event: SdkEvent): void {
    if (event.type === 'assistant.message_delta') this.#turn.text(event.data.deltaContent);
    else if (event.type === 'assistant.reasoning_delta') this.#turn.reasoning(event.data.deltaContent);
    else if (event.type === 'assistant.intent') this.#turn.activity(event.data.intent);
  }

  #title(title: string): void {
    if (!this.#options.keepsTitle) this.#turn.title(title);
  }

  #heard(eventId: string): void {
    if (!this.#isHeard) this.#options.begun(eventId);
    this.#isHeard = true;
  }

  /** Ends the turn, unless a person sent a message too late for the last step. */
  #idle(): void {
    if (!this.#isHeard) return;
    this.#steer('enqueue').then(
      (isSteered) => {
        if (isSteered) return;
        this.#silence.resolve();
        this.#over.resolve();
      },
      (error) => this.#over.reject(error),
    );
  }

  async #steer(mode: 'enqueue' | 'immediate'): Promise<boolean> {
    const message = this.#turn.takeSteering();
    if (message) await this.#options.session.send({ prompt: messageText(message), mode });
    return message !== undefined;
  }

  #use(usage: SdkUsage): void {
    this.#spent = plusUsage(this.#spent, usage);
    const info = usageInfo(this.#spent, usage);
    if (info) this.#turn.usage(info);
  }

  #failed(failure: ModelFailure): void {
    const { retries, place } = this.#options;
    this.#failures++;
    if (retries !== undefined && this.#failures > retries) this.#over.reject(failureError(failure, place));
  }
}

/** A promise that is settled from outside. */
class Settled {
  readonly promise: Promise<void>;
  resolve: () => void = () => {};
  reject: (error: unknown) => void = () => {};

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // A failure without a listener must not end the process.
    this.promise.catch(() => {});
  }
}

/** Returns the reason when the person does not answer: the runtime takes nothing but an answer. */
async function answerTo(turn: AgentTurn, { question, choices = [] }: UserQuestion): Promise<string> {
  try {
    return await askQuestion((request) => turn.ask(request), { question, options: choices });
  } catch (error) {
    if (error instanceof ToolFailure) return error.message;
    if (turn.signal.aborted) return 'Cancelled before it was done.';
    throw error;
  }
}

function plusUsage(spent: SdkUsage | undefined, more: SdkUsage): SdkUsage {
  return {
    model: more.model,
    inputTokens: sum(spent?.inputTokens, more.inputTokens),
    outputTokens: sum(spent?.outputTokens, more.outputTokens),
    cacheReadTokens: sum(spent?.cacheReadTokens, more.cacheReadTokens),
    cacheWriteTokens: sum(spent?.cacheWriteTokens, more.cacheWriteTokens),
    reasoningTokens: sum(spent?.reasoningTokens, more.reasoningTokens),
  };
}

/**
 * The runtime says zero where the server counted nothing: then there is nothing to tell. Every request sends the whole
 * conversation, so the last one says how large it is.
 */
function usageInfo(spent: SdkUsage, last: SdkUsage): UsageInfo | undefined {
  const { model, inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = spent;
  const { reasoningTokens = 0 } = spent;
  if (inputTokens + outputTokens === 0) return undefined;
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens,
    model,
    _meta: { cacheWriteTokens, reasoningTokens, contextTokens: sum(last.inputTokens, last.outputTokens) },
  };
}

function sum(before = 0, more = 0): number {
  return before + more;
}
