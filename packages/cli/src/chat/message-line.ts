/** The message that is being written: which keys send it, and which only change it. */
import { Editor } from './editor.js';
import type { Key } from './keys.js';
import { completed } from './slash.js';

export type Wish =
  | { readonly kind: 'send' | 'steer'; readonly text: string }
  /** `next`: what waits may begin. */
  | { readonly kind: 'stop' | 'next' };

/** A question that comes while somebody types must not take a letter of the text for its answer. */
const TYPING_GUARD_MS = 500;

export class MessageLine {
  readonly editor = new Editor();
  #lastTyped = Number.NEGATIVE_INFINITY;

  /** Whether somebody has just typed. */
  get isBusy(): boolean {
    return performance.now() - this.#lastTyped < TYPING_GUARD_MS;
  }

  press(key: Key): Wish | undefined {
    this.#lastTyped = performance.now();
    const { editor } = this;
    const steers = (key.name === 'enter' && key.alt) || (key.ctrl && key.name === 's');
    if (key.name === 'escape') return { kind: 'stop' };
    if (key.alt && key.name === 'j') editor.insert('\n');
    else if (key.name === 'tab') editor.set(completed(editor.text));
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
