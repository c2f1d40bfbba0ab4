/** A question of the chat itself: yes or no. */
import { wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import type { EditorView } from './editor-view.js';
import { flowed } from './key-hints.js';
import type { Key } from './keys.js';

export class Confirmation {
  readonly #question: string;
  readonly #answered: (isYes: boolean) => void;

  constructor(question: string, answered: (isYes: boolean) => void) {
    this.#question = question;
    this.#answered = answered;
  }

  /** True when that was the answer. Enter is none: what destroys something takes a letter. */
  press(key: Key): boolean {
    const letter = key.text?.toLowerCase();
    if (letter === 'y') this.#answered(true);
    else if (letter === 'n' || key.name === 'escape') this.#answered(false);
    else return false;
    return true;
  }

  cancel(): void {
    this.#answered(false);
  }

  view(options: ViewOptions): EditorView {
    const { style, columns } = options;
    const question = wrap(`? ${this.#question}`, columns - 2).map((line) => style.yellow(line));
    const keys = flowed(
      [
        ['y', 'yes'],
        ['n', 'no'],
      ],
      options,
    );
    return { lines: [...question, ...keys], cursor: { row: question.length, column: 0 } };
  }
}
