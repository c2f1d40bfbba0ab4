/**
 * An answer in the form in which it must go back to the model with the next request: text, thinking and calls, in
 * order.
 */
import type { AssistantContent, ModelMessage } from '@ai-sdk/provider-utils';
import type { AnswerEvent } from './request.js';

type Part = Extract<Exclude<AssistantContent, string>[number], { type: 'text' | 'reasoning' | 'tool-call' }>;
type TextBlock = Extract<Part, { type: 'text' | 'reasoning' }>;
type TextEvent = Extract<AnswerEvent, { type: 'text' | 'reasoning' }>;
type CallEvent = Extract<AnswerEvent, { type: 'call' }>;

export class AnswerMessage {
  readonly #parts: Part[] = [];
  /** Text blocks by name; some providers write several at the same time. */
  readonly #blocks = new Map<string, TextBlock>();

  take(event: AnswerEvent): void {
    if (event.type === 'text' || event.type === 'reasoning') this.#add(event);
    else if (event.type === 'call') this.#call(event);
  }

  /** The messages; none when the answer was empty. */
  messages(): ModelMessage[] {
    const content = this.#parts.filter(
      ({ type, ...part }) => !('text' in part) || part.text !== '' || part.providerOptions,
    );
    return content.length === 0 ? [] : [{ role: 'assistant', content }];
  }

  #add({ type, block, text, metadata }: TextEvent): void {
    const part = this.#blocks.get(`${type} ${block}`) ?? this.#begin(type, block);
    part.text += text;
    if (metadata) part.providerOptions = metadata;
  }

  #begin(type: TextEvent['type'], block: string): TextBlock {
    const part: TextBlock = { type, text: '' };
    this.#blocks.set(`${type} ${block}`, part);
    this.#parts.push(part);
    return part;
  }

  #call({ id, name, input, metadata }: CallEvent): void {
    const parsed = parsedInput(input);
    // Providers require an object; the result of the call says what was wrong.
    const sent = 'value' in parsed && typeof parsed.value === 'object' && parsed.value !== null ? parsed.value : {};
    const options = metadata && { providerOptions: metadata };
    this.#parts.push({ type: 'tool-call', toolCallId: id, toolName: name, input: sent, ...options });
  }
}

/** Parses the input of a call; models may write nothing for an empty input. */
export function parsedInput(text: string): { readonly value: unknown } | { readonly problem: string } {
  if (text.trim() === '') return { value: {} };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `its input is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
