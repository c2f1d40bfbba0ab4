/** How much one answer of a model may still have of everything. A server whose answer never ends is not read for ever. */
import { sizeText } from '../../core/util/text.js';
import {
  ANSWER_CALLS_MAX,
  ANSWER_INPUT_MAX_CHARACTERS,
  ANSWER_REASONING_MAX_CHARACTERS,
  ANSWER_TEXT_MAX_CHARACTERS,
} from './limits.js';

export type AnswerPart = 'text' | 'reasoning' | 'input' | 'calls';

const MAX: Readonly<Record<AnswerPart, number>> = {
  text: ANSWER_TEXT_MAX_CHARACTERS,
  reasoning: ANSWER_REASONING_MAX_CHARACTERS,
  input: ANSWER_INPUT_MAX_CHARACTERS,
  calls: ANSWER_CALLS_MAX,
};

const WORDS: Readonly<Record<AnswerPart, string>> = {
  text: `${sizeText(MAX.text)} of text`,
  reasoning: `${sizeText(MAX.reasoning)} of thinking`,
  input: `${sizeText(MAX.input)} of input for tools`,
  calls: `${MAX.calls} calls`,
};

export class AnswerBudget {
  readonly #left: Record<AnswerPart, number> = { ...MAX };
  #excess: string | undefined;

  /** What there was too much of, in words. */
  get excess(): string | undefined {
    return this.#excess;
  }

  /** Says whether there is room for that. */
  spend(part: AnswerPart, amount: number): boolean {
    this.#left[part] -= amount;
    if (this.#left[part] < 0) this.#excess ??= WORDS[part];
    return this.#left[part] >= 0;
  }
}
