/** The input of a call while the model is still writing it: people see it grow, up to a limit. */
import type { TurnRunner } from '../sessions/turn.js';
import { INPUT_MAX_CHARACTERS } from './arguments.js';

export class StreamedInput {
  #text = '';

  constructor(
    private readonly turn: TurnRunner,
    private readonly toolCallId: string,
  ) {}

  get text(): string {
    return this.#text;
  }

  /** What is beyond the limit is not shown: such a call cannot be run anyway. */
  add(more: string): void {
    const content = more.slice(0, INPUT_MAX_CHARACTERS - this.#text.length);
    if (content === '') return;
    this.#text += content;
    const { turn, toolCallId } = this;
    turn.write({ type: 'session/toolCallDelta', turnId: turn.id, toolCallId, content });
  }
}
