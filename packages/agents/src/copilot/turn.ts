/** One turn of Copilot: shows its events to people, and passes its questions on to them. */

import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import { askQuestion } from '@atrium/core/contracts/ask-question.js';
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import type { Message } from '@atrium/protocol/ahp-1';
import { attachedImages, messageText } from '../shared/messages.js';
import type { ErrorPlace } from '../shared/model-errors.js';
import { copilotError, failureError } from './errors.js';
import type {
  HookContext,
  ModelFailure,
  PermissionDecision,
  PermissionRequest,
  PreToolUseAnswer,
  SdkEvent,
  SdkMessage,
  SdkSession,
  SdkToolResult,
  ToolHookInput,
  UserQuestion,
} from './sdk.js';
import { SubAgents } from './sub-agents.js';
import { denied, type HostTools } from './tools.js';

interface CopilotTurnOptions {
  readonly turn: AgentTurn;
  readonly session: SdkSession;
  readonly tools: HostTools;
  /** Text that only the model reads, beside the message. */
  readonly context: readonly string[];
  /** Copilot names sessions that seem new to it. One that was told its history again already has a title. */
  readonly keepsTitle: boolean;
  readonly place: ErrorPlace;
  /** GitHub's subscription pays, not a key of one's own. */
  readonly isFlat: boolean;
  /** Further attempts after a failed request. */
  readonly retries: number | undefined;
  /** Called when Copilot has taken the message of the turn, with this event. */
  begun(eventId: string): void;
}

interface ToolDone {
  readonly success: boolean;
  readonly output: string;
}

export class CopilotTurn {
  readonly #agents: SubAgents;
  readonly #options: CopilotTurnOptions;
  readonly #turn: AgentTurn;
  readonly #over = new Settled();
  readonly #silence = new Settled();
  /** True when Copilot has taken the message. Earlier events belong to another turn. */
  #isHeard = false;
  #context: readonly string[];
  #failures = 0;

  constructor(options: CopilotTurnOptions) {
    this.#options = options;
    this.#turn = options.turn;
    this.#context = options.context;
    const { turn, tools, session, isFlat } = options;
    // Ignore failures: the task may be over already, or its runtime gone.
    const stop = (id: string) => void session.rpc.tasks.cancel({ id }).catch(() => {});
    this.#agents = new SubAgents({ turn, tools, isFlat, stop });
  }

  /** Sends the message. Settles when Copilot has nothing left to do, including background commands. */
  async send(): Promise<void> {
    await this.#options.session.send(await sdkMessage(this.#turn.message, this.#turn.workingDirectories));
    await this.#over.promise;
  }

  /** Settles when Copilot no longer works on the turn. */
  get silence(): Promise<void> {
    return this.#silence.promise;
  }

  take(event: SdkEvent): void {
    if (event.agentId === undefined) this.#takeText(event);
    this.#agents.take(event);
  }

  async check(input: ToolHookInput, agentId: string | undefined): Promise<PreToolUseAnswer | undefined> {
    const calls = await this.#agents.of(agentId).catch(() => undefined);
    return calls ? calls.check(input) : denied('This sub-agent was stopped.');
  }

  permit(request: PermissionRequest): Promise<PermissionDecision> {
    return this.#agents.permit(request);
  }

  async toolDone(
    input: ToolHookInput,
    agentId: string | undefined,
    result: ToolDone,
  ): Promise<HookContext | undefined> {
    const calls = await this.#agents.of(agentId).catch(() => undefined);
    const context = await calls?.done(input, result.success, result.output);
    await this.#steer('immediate');
    return context;
  }

  async callHostTool(toolCallId: string, name: string, input: unknown): Promise<SdkToolResult> {
    const result = await this.#agents.runHostTool(toolCallId, name, input);
    await this.#steer('immediate');
    return result;
  }

  answerTo(question: UserQuestion): Promise<string> {
    return answerTo(this.#turn, question);
  }

  /** Takes the context, which goes only with the first message. */
  takeContext(): HookContext | undefined {
    const context = this.#context;
    this.#context = [];
    return context.length === 0 ? undefined : { additionalContext: context.join('\n\n') };
  }

  #takeText(event: SdkEvent): void {
    if (event.type === 'user.message') this.#touch(event.id);
    else if (event.type === 'session.title_changed') this.#title(event.data.title);
    else if (event.type === 'session.idle') this.#idle();
    else if (event.type === 'session.error') this.#over.reject(copilotError(event.data, this.#options.place));
    else if (event.type === 'model.call_failure') this.#failed(event.data);
    else if (this.#isHeard) this.#agents.main.show(event);
  }

  #title(title: string): void {
    if (!this.#options.keepsTitle) this.#turn.title(title);
  }

  #touch(eventId: string): void {
    if (!this.#isHeard) this.#options.begun(eventId);
    this.#isHeard = true;
  }

  /** Ends the turn, unless a person sent a message too late for the last step. */
  #idle(): void {
    if (!this.#isHeard) return;
    this.#finish().catch((error) => this.#over.reject(error));
  }

  async #finish(): Promise<void> {
    if (await this.#steer('enqueue')) return;
    this.#silence.resolve();
    await this.#agents.endAll();
    this.#over.resolve();
  }

  async #steer(mode: 'enqueue' | 'immediate'): Promise<boolean> {
    const message = this.#turn.takeSteering();
    if (message)
      await this.#options.session.send({ ...(await sdkMessage(message, this.#turn.workingDirectories)), mode });
    return message !== undefined;
  }

  #failed(failure: ModelFailure): void {
    const { retries, place } = this.#options;
    this.#failures++;
    if (retries !== undefined && this.#failures > retries) this.#over.reject(failureError(failure, place));
  }
}

/** The message with its pictures. */
async function sdkMessage(message: Message, folders: readonly string[]): Promise<SdkMessage> {
  const images = await attachedImages(message, folders);
  const attachments = images.map(({ image, mediaType = 'image/png' }) => {
    return { type: 'blob' as const, data: String(image), mimeType: mediaType };
  });
  return { prompt: messageText(message), ...(attachments.length > 0 && { attachments }) };
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
    // A failure without a listener must not crash the process.
    this.promise.catch(() => {});
  }
}

/** Asks a person. If they do not answer, returns the reason: the runtime accepts nothing but an answer. */
async function answerTo(turn: AgentTurn, { question, choices = [] }: UserQuestion): Promise<string> {
  try {
    return await askQuestion((request) => turn.ask(request), { question, options: choices });
  } catch (error) {
    if (error instanceof ToolFailure) return error.message;
    if (turn.signal.aborted) return 'Cancelled before it was done.';
    throw error;
  }
}
