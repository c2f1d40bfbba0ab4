/** One turn while Copilot works on it: its events become what people see, its questions go to the turn. */
import type { AgentTurn } from '../../core/contracts/agent.js';
import { wordsOf } from '../model/conversation.js';
import type { ErrorPlace } from '../model/errors.js';
import { userMessage } from '../model/history.js';
import { answerTo } from './ask.js';
import { TurnCalls } from './calls.js';
import { copilotError, failureError } from './errors.js';
import type { HostTools } from './host-tools.js';
import type { HookContext, SdkSession, SdkToolResult, ToolHookInput, UserQuestion } from './sdk.js';
import type { ModelFailure, SdkEvent, SdkUsage } from './sdk-events.js';
import { Settled } from './settled.js';
import { plusUsage, usageInfo } from './usage.js';

export interface TurnParts {
  readonly turn: AgentTurn;
  readonly session: SdkSession;
  readonly tools: HostTools;
  /** What the model is to know beside the message. */
  readonly context: readonly string[];
  /** Copilot names what it takes for new; a session that was told again has its title already. */
  readonly keepsTitle: boolean;
  readonly place: ErrorPlace;
  /** Further attempts after a failed request. */
  readonly retries: number | undefined;
  /** Copilot has taken the message of the turn, with this event. */
  begun(eventId: string): void;
}

export class TurnRun {
  readonly calls: TurnCalls;
  readonly #parts: TurnParts;
  readonly #turn: AgentTurn;
  readonly #over = new Settled();
  readonly #silence = new Settled();
  /** Copilot has taken the message: what it says before that is about something else. */
  #isHeard = false;
  #context: readonly string[];
  #spent: SdkUsage | undefined;
  #failures = 0;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.#turn = parts.turn;
    this.#context = parts.context;
    this.calls = new TurnCalls(parts.turn, parts.tools);
  }

  /** Settles when Copilot has nothing left to do, commands in the background included. */
  async send(): Promise<void> {
    await this.#parts.session.send({ prompt: textOf(this.#turn.message) });
    await this.#over.promise;
  }

  /** When it does not work on the turn any more, for whatever reason. */
  get silence(): Promise<void> {
    return this.#silence.promise;
  }

  /** What a sub-agent says is for the agent that asked it; what it does is everybody's business. */
  take(event: SdkEvent): void {
    if (event.agentId === undefined) this.#takeWords(event);
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

  /** Once: what a person adds later comes without it. */
  takeContext(): HookContext | undefined {
    const context = this.#context;
    this.#context = [];
    return context.length === 0 ? undefined : { additionalContext: context.join('\n\n') };
  }

  #takeWords(event: SdkEvent): void {
    if (event.type === 'user.message') this.#heard(event.id);
    else if (event.type === 'session.title_changed') this.#title(event.data.title);
    else if (event.type === 'session.idle') this.#idle();
    else if (event.type === 'session.error') this.#over.reject(copilotError(event.data, this.#parts.place));
    else if (event.type === 'model.call_failure') this.#failed(event.data);
    else if (this.#isHeard) this.#say(event);
  }

  #say(event: SdkEvent): void {
    if (event.type === 'assistant.message_delta') this.#turn.text(event.data.deltaContent);
    else if (event.type === 'assistant.reasoning_delta') this.#turn.reasoning(event.data.deltaContent);
    else if (event.type === 'assistant.intent') this.#turn.activity(event.data.intent);
  }

  #title(title: string): void {
    if (!this.#parts.keepsTitle) this.#turn.title(title);
  }

  #heard(eventId: string): void {
    if (!this.#isHeard) this.#parts.begun(eventId);
    this.#isHeard = true;
  }

  /** A message that came too late for the last step begins another one. */
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
    if (message) await this.#parts.session.send({ prompt: textOf(message), mode });
    return message !== undefined;
  }

  #use(usage: SdkUsage): void {
    this.#spent = plusUsage(this.#spent, usage);
    const info = usageInfo(this.#spent, usage);
    if (info) this.#turn.usage(info);
  }

  #failed(failure: ModelFailure): void {
    const { retries, place } = this.#parts;
    this.#failures++;
    if (retries !== undefined && this.#failures > retries) this.#over.reject(failureError(failure, place));
  }
}

/** Pictures stay behind; what is attached is named all the same. */
function textOf(message: AgentTurn['message']): string {
  return wordsOf(userMessage(message));
}
