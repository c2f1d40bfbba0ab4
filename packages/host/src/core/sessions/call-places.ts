/** Finds the calls of a turn among its parts. Parts are only ever added to a turn, so each of them is read once. */
import type { ResponsePart, ToolCallState } from '@atrium/protocol';

export class CallPlaces {
  readonly #places = new Map<string, number>();
  #read = 0;

  /** The parts may be those of an earlier state of the turn: a call that came later is not found in them. */
  find(parts: readonly ResponsePart[], toolCallId: string): ToolCallState | undefined {
    this.#readOn(parts);
    const part = parts[this.#places.get(toolCallId) ?? parts.length];
    return part?.kind === 'toolCall' ? part.toolCall : undefined;
  }

  #readOn(parts: readonly ResponsePart[]): void {
    for (; this.#read < parts.length; this.#read++) {
      const part = parts[this.#read];
      if (part?.kind === 'toolCall') this.#places.set(part.toolCall.toolCallId, this.#read);
    }
  }
}
