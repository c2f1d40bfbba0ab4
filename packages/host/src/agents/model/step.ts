/** Reads one answer of the model as it streams in, and shows it through the turn. */
import type { FinishReason, LanguageModelUsage, ModelMessage, TextStreamPart, ToolSet } from 'ai';
import type { AgentTurn, BegunCall } from '../agent.js';
import type { ModelCall } from './calls.js';
import type { StepStream } from './sdk.js';
import type { ToolTable } from './tool-table.js';

export class StepReader {
  readonly calls: ModelCall[] = [];
  usage: LanguageModelUsage | undefined;
  finishReason: FinishReason | undefined;
  readonly #turn: AgentTurn;
  readonly #tools: ToolTable;
  /** Calls whose input is still on its way, by the id that the model gave them. */
  readonly #begun = new Map<string, BegunCall>();
  #said = '';

  constructor(turn: AgentTurn, tools: ToolTable) {
    this.#turn = turn;
    this.#tools = tools;
  }

  /** Returns what the model said, as it must be sent back to it. */
  async read(stream: StepStream): Promise<ModelMessage[]> {
    for await (const part of stream.parts) this.#take(part);
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
    else if (part.type === 'reasoning-delta' && part.text !== '') this.#turn.reasoning(part.text);
    else if (part.type === 'tool-input-start') this.#begun.set(part.id, this.#begin(part.toolName));
    else if (part.type === 'tool-input-delta' && part.delta !== '') this.#begun.get(part.id)?.delta(part.delta);
    else if (part.type === 'tool-call') this.#call(part);
    else if (part.type === 'finish-step') this.#finish(part);
    else if (part.type === 'error') throw part.error;
    else if (part.type === 'abort') throw new DOMException('the turn is over', 'AbortError');
  }

  #say(text: string): void {
    if (text === '') return;
    this.#said += text;
    this.#turn.text(text);
  }

  /** Ids of models repeat from step to step, so the host makes up its own. */
  #begin(name: string): BegunCall {
    return this.#turn.beginCall({ name: this.#tools.get(name)?.name ?? name });
  }

  /** Some servers send a call in one piece. */
  #call({ toolCallId: id, toolName: name, input, ...rest }: ToolCallPart): void {
    const begun = this.#begun.get(id) ?? this.#begin(name);
    // Another call may come with the same id.
    this.#begun.delete(id);
    const problem = 'invalid' in rest && rest.invalid ? problemOf(rest.error) : undefined;
    this.calls.push({ id, name, input, problem, begun });
  }

  #finish({ usage, finishReason }: { usage: LanguageModelUsage; finishReason: FinishReason }): void {
    this.usage = usage;
    this.finishReason = finishReason;
  }
}

type ToolCallPart = Extract<TextStreamPart<ToolSet>, { type: 'tool-call' }>;

function problemOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `The call could not be run: ${message} Correct it and call again.`;
}
