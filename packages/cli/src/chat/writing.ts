/** Something that is written about a call before it is answered: its input, or why it must not run. */
import type { SessionAction } from '@atrium/protocol';
import { approve, deny, type Target } from '../sessions/confirm.js';
import type { ViewOptions } from './call-view.js';
import { Editor } from './editor.js';
import { type EditorView, editorView } from './editor-view.js';
import { editedInput, inputText } from './input-text.js';
import type { Key } from './keys.js';

export class Writing {
  readonly target: Target;
  readonly #purpose: 'edit' | 'reason';
  readonly #editor: Editor;
  #problem = '';

  constructor(purpose: 'edit' | 'reason', target: Target) {
    this.target = target;
    this.#purpose = purpose;
    this.#editor = new Editor(purpose === 'edit' ? inputText(target.call.toolInput).value : '');
  }

  /** The answer when it is ready; `back` when the person would rather not write. */
  press(key: Key): SessionAction | 'back' | undefined {
    if (key.name === 'escape') return 'back';
    if (key.name === 'enter' && !key.alt && !key.shift) return this.#answer();
    this.#problem = '';
    this.#editor.press(key.name === 'enter' ? { name: 'newline' } : key);
    return undefined;
  }

  #answer(): SessionAction | undefined {
    const { text } = this.#editor;
    if (this.#purpose === 'reason') return deny(this.target, text.trim() === '' ? {} : { reason: text });
    const edited = editedInput(this.target.call.toolInput, text);
    if ('input' in edited) return approve(this.target, { editedInput: edited.input });
    this.#problem = edited.problem;
    return undefined;
  }

  view(view: ViewOptions): EditorView {
    const { style } = view;
    const { name = 'input' } = inputText(this.target.call.toolInput);
    const prompt = this.#purpose === 'edit' ? `${name}> ` : 'why not> ';
    const keys = this.#purpose === 'edit' ? 'Enter runs it like this' : 'Enter says no';
    const { lines, cursor } = editorView(this.#editor, { ...view, prompt });
    const problem = this.#problem === '' ? [] : [style.red(`  ${this.#problem}`)];
    return { lines: [...lines, ...problem, style.dim(`  ${keys} · Ctrl+J new line · Esc goes back`)], cursor };
  }
}
