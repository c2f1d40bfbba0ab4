/** Reads one answer of the model as it streams in, and shows it through the turn. */
import type { FinishReason, LanguageModelUsage, ModelMessage, TextStreamPart, ToolSet } from 'ai';
import type { AgentTurn, BegunCall } from '../../core/contracts/agent.js';
import { AnswerBudget, type AnswerPart } from './answer-budget.js';
import type { ModelCall } from './calls.js';
import { CALLS_PER_STEP_MAX } from './limits.js';
import type { StepStream } from './sdk.js';
import type { ToolTable } from './tool-table.js';

export class StepReader {
  usage: LanguageModelUsage | undefined;
  finishReason: FinishReason | undefined;
  readonly #turn: AgentTurn;
  readonly #tools: ToolTable;
  readonly #budget = new AnswerBudget();
  /** Calls whose input is still on its way, by the id that the model gave them. */
  readonly #begun = new Map<string, BegunCall | undefined>();
  #shownCalls = 0;
  #calls: ModelCall[] = [];
  #said = '';
  #hasBegun = false;
  #brokenOff: string | undefined;

  constructor(turn: AgentTurn, tools: ToolTable) {
    this.#turn = turn;
    this.#tools = tools;
  }

  get calls(): readonly ModelCall[] {
    return this.#calls;
  }

  /** Whether anything of the answer came. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether it has neither words nor calls. */
  get isEmpty(): boolean {
    return this.#said.trim() === '' && this.#calls.length === 0;
  }

  /** Why the host did not read on, if it did not. */
  get brokenOff(): string | undefined {
    return this.#brokenOff;
  }

  /** Returns what the model said, as it must be sent back to it. */
  async read(stream: StepStream): Promise<ModelMessage[]> {
    for await (const part of stream.parts) {
      this.#take(part);
      if (this.#budget.excess === undefined) continue;
      stream.stop();
      return this.#breakOff(`The answer was broken off: it had more than ${this.#budget.excess}.`);
    }
    await Promise.all([...this.#begun.values()].map((call) => call?.fail(UNFINISHED)));
    // The SDK answers bad calls by itself; the loop does that, in words of its own.
    return (await stream.messages()).filter(({ role }) => role === 'assistant');
  }

  /** What had been said when the stream broke off: the SDK keeps nothing of it. */
  partial(): ModelMessage[] {
    return this.#said === '' ? [] : [{ role: 'assistant', content: this.#said }];
  }

  /** Parts of other types, and of types yet to come, say nothing to a person. */
  #take(part: TextStreamPart<ToolSet>): void {
    this.#turn.signal.throwIfAborted();
    if (part.type === 'text-delta') this.#say(part.text);
    else if (part.type === 'reasoning-delta') this.#think(part.text);
    else if (part.type === 'tool-input-start') this.#begun.set(part.id, this.#begin(part.toolName));
    else if (part.type === 'tool-input-delta') this.#write(part.id, part.delta);
    else if (part.type === 'tool-call') this.#call(part);
    else if (part.type === 'finish-step') this.#finish(part);
    else if (part.type === 'error') throw part.error;
    else if (part.type === 'abort') throw new DOMException('the turn is over', 'AbortError');
  }

  #say(text: string): void {
    if (!this.#mayShow('text', text.length)) return;
    this.#said += text;
    this.#turn.text(text);
  }

  #think(text: string): void {
    if (this.#mayShow('reasoning', text.length)) this.#turn.reasoning(text);
  }

  #write(id: string, delta: string): void {
    if (this.#mayShow('input', delta.length)) this.#begun.get(id)?.delta(delta);
  }

  /** Ids of models repeat from step to step, so the host makes up its own. Calls that are too many are not shown. */
  #begin(name: string): BegunCall | undefined {
    if (!this.#mayShow('calls', 1) || this.#shownCalls >= CALLS_PER_STEP_MAX) return undefined;
    this.#shownCalls += 1;
    return this.#turn.beginCall({ name: this.#tools.get(name)?.name ?? name });
  }

  #mayShow(part: AnswerPart, amount: number): boolean {
    if (amount === 0) return false;
    this.#hasBegun = true;
    return this.#budget.spend(part, amount);
  }

  /** Some servers send a call in one piece. */
  #call({ toolCallId: id, toolName: name, input, ...rest }: ToolCallPart): void {
    const begun = this.#begun.has(id) ? this.#begun.get(id) : this.#begin(name);
    // Another call may come with the same id.
    this.#begun.delete(id);
    const problem = 'invalid' in rest && rest.invalid ? problemOf(rest.error) : undefined;
    this.#calls.push({ id, name, input, problem, begun });
  }

  #finish({ usage, finishReason }: { usage: LanguageModelUsage; finishReason: FinishReason }): void {
    this.usage = usage;
    this.finishReason = finishReason;
  }

  /** None of its calls runs, for nobody knows what was still to come. The model hears why it stopped. */
  async #breakOff(why: string): Promise<ModelMessage[]> {
    this.#brokenOff = why;
    const begun = [...this.#calls.map((call) => call.begun), ...this.#begun.values()];
    this.#calls = [];
    await Promise.all(begun.map((call) => call?.fail(why)));
    return [{ role: 'assistant', content: `${this.#said}\n\n[${why}]`.trim() }];
  }
}

const UNFINISHED = 'The model did not finish writing this call, so it was not run.';

type ToolCallPart = Extract<TextStreamPart<ToolSet>, { type: 'tool-call' }>;

function problemOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `The call could not be run: ${message} Correct it and call again.`;
}
