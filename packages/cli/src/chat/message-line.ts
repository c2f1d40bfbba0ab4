/** The message that is being written: which keys send it, and which only change it. */

import { Completer, type CompleterParts } from './completer.js';
import { Editor } from './editor.js';
import type { Key } from './keys.js';
import { Mentions } from './mentions.js';

export type Wish =
  | { readonly kind: 'send' | 'steer'; readonly text: string }
  /** `next`: what waits may begin. */
  | { readonly kind: 'stop' | 'next' };

/** A question that comes while somebody types must not take a letter of the text for its answer. */
const TYPING_GUARD_MS = 500;

/** Who finds what a word could become. */
export type Finder = Omit<CompleterParts, 'editor' | 'mentions'>;

export class MessageLine {
  readonly editor = new Editor();
  readonly mentions = new Mentions();
  readonly completer: Completer;
  #lastTyped = Number.NEGATIVE_INFINITY;

  constructor(finder: Finder) {
    this.completer = new Completer({ ...finder, editor: this.editor, mentions: this.mentions });
  }

  /** Whether somebody has just typed. */
  get isBusy(): boolean {
    return performance.now() - this.#lastTyped < TYPING_GUARD_MS;
  }

  press(key: Key): Wish | undefined {
    this.#lastTyped = performance.now();
    if (key.name === 'tab') {
      this.completer.press(key.shift ? -1 : 1);
      return undefined;
    }
    const wish = this.#press(key);
    // Whoever has deleted everything writes something else.
    if (!wish && this.editor.text === '') this.mentions.carry([]);
    this.completer.follow();
    return wish;
  }

  #press(key: Key): Wish | undefined {
    const { editor } = this;
    const steers = (key.name === 'enter' && key.alt) || (key.ctrl && key.name === 's');
    if (key.name === 'escape') return { kind: 'stop' };
    if (key.alt && key.name === 'j') editor.insert('\n');
    else if (key.name !== 'enter' && !steers) editor.press(key);
    else if (key.shift || (key.name === 'enter' && editor.text.endsWith('\\'))) this.#breakLine();
    else if (editor.text.trim() === '') return { kind: 'next' };
    else return { kind: steers ? 'steer' : 'send', text: editor.take() };
    return undefined;
  }

  /** A backslash at the end means: the line goes on below. */
  #breakLine(): void {
    if (this.editor.text.endsWith('\\')) this.editor.press({ name: 'backspace' });
    this.editor.insert('\n');
  }
}
