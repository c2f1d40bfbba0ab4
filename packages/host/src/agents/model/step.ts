/** Reads one answer of the model as it streams in, and shows it through the turn. */
import type { FinishReason, LanguageModelUsage, ModelMessage, TextStreamPart, ToolSet } from 'ai';
import type { AgentTurn } from '../agent.js';
import type { ModelCall } from './calls.js';
import type { StepStream } from './sdk.js';

export class StepReader {
  readonly calls: ModelCall[] = [];
  usage: LanguageModelUsage | undefined;
  finishReason: FinishReason | undefined;
  readonly #turn: AgentTurn;
  #said = '';

  constructor(turn: AgentTurn) {
    this.#turn = turn;
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
    else if (part.type === 'tool-call') this.calls.push(callOf(part));
    else if (part.type === 'finish-step') this.#finish(part);
    else if (part.type === 'error') throw part.error;
    else if (part.type === 'abort') throw new DOMException('the turn is over', 'AbortError');
  }

  #say(text: string): void {
    if (text === '') return;
    this.#said += text;
    this.#turn.text(text);
  }

  #finish({ usage, finishReason }: { usage: LanguageModelUsage; finishReason: FinishReason }): void {
    this.usage = usage;
    this.finishReason = finishReason;
  }
}

function callOf(part: Extract<TextStreamPart<ToolSet>, { type: 'tool-call' }>): ModelCall {
  const { toolCallId: id, toolName: name, input } = part;
  return { id, name, input, problem: part.invalid ? problemOf(part.error) : undefined };
}

function problemOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `The call could not be run: ${message} Correct it and call again.`;
}
