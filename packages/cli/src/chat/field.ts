/** One question on the screen: what is chosen, ticked or written so far. */
import type { SessionInputAnswer, SessionInputOption, SessionInputQuestion } from '@atrium/protocol';
import { printable } from '../text/printable.js';
import { graphemesOf, wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import { Editor } from './editor.js';
import { type EditorView, editorView } from './editor-view.js';
import type { Key } from './keys.js';
import {
  type AnswerValue,
  allowsOwn,
  answerOf,
  answerWords,
  defaultText,
  isWritten,
  optionsOf,
  problemWith,
} from './question.js';

export class Field {
  readonly question: SessionInputQuestion;
  readonly #options: readonly SessionInputOption[];
  readonly #editor: Editor;
  /** The row that is marked; behind the last choice is the one for something else. */
  #row: number;
  readonly #ticked = new Set<string>();
  #problem = '';

  constructor(question: SessionInputQuestion) {
    this.question = question;
    this.#options = optionsOf(question);
    this.#editor = new Editor(defaultText(question));
    this.#row = Math.max(
      0,
      this.#options.findIndex((option) => option.recommended),
    );
  }

  get answer(): SessionInputAnswer {
    return answerOf(this.question, this.#value);
  }

  get words(): string {
    return answerWords(this.question, this.#value);
  }

  get isMany(): boolean {
    return this.question.kind === 'multi-select';
  }

  get #isOwnRow(): boolean {
    return allowsOwn(this.question) && this.#row === this.#options.length;
  }

  get #value(): AnswerValue {
    const own = this.isMany || this.#isOwnRow ? this.#editor.text.trim() : '';
    return {
      text: this.#editor.text,
      option: this.#options[this.#row]?.id,
      ticked: [...this.#ticked],
      own: allowsOwn(this.question) ? own : '',
    };
  }

  /** Enter was pressed: whether this can be the answer. */
  accept(): boolean {
    this.#problem = problemWith(this.question, this.#value) ?? '';
    return this.#problem === '';
  }

  press(key: Key): void {
    this.#problem = '';
    if (isWritten(this.question)) this.#editor.press(key);
    else if (key.name === 'up' || key.name === 'down') this.#move(key.name === 'up' ? -1 : 1);
    else if (key.name !== 'text') this.#pressOne(key);
    // What is typed fast arrives together.
    else for (const text of graphemesOf(key.text ?? '')) this.#pressOne({ ...key, text });
  }

  #pressOne(key: Key): void {
    if (this.#isOwnRow) this.#editor.press(key);
    else this.#choose(key);
  }

  #move(by: number): void {
    const last = this.#options.length - (allowsOwn(this.question) ? 0 : 1);
    this.#row = Math.max(0, Math.min(last, this.#row + by));
  }

  #choose(key: Key): void {
    const digit = key.name === 'text' && /^[1-9]$/.test(key.text ?? '') ? Number(key.text) - 1 : undefined;
    const isTick = this.isMany && key.text === ' ';
    if (digit !== undefined) this.#row = digit <= this.#options.length ? digit : this.#row;
    if (this.isMany && (isTick || digit !== undefined)) this.#tick(this.#options[this.#row]?.id);
    this.#move(0);
    if (digit !== undefined || isTick || !allowsOwn(this.question)) return;
    if (key.name !== 'text' && key.name !== 'paste') return;
    // Whoever writes means something of their own.
    this.#row = this.#options.length;
    this.#editor.press(key);
  }

  #tick(id: string | undefined): void {
    if (id === undefined) return;
    if (!this.#ticked.delete(id)) this.#ticked.add(id);
  }

  view(options: ViewOptions): EditorView {
    const { style } = options;
    const problem = this.#problem === '' ? [] : [style.red(`  ${this.#problem}`)];
    const rows = this.#options.flatMap((option, index) => this.#optionLines(option, index, options));
    if (!isWritten(this.question) && !allowsOwn(this.question))
      return { lines: [...rows, ...problem], cursor: { row: rows.length + problem.length, column: 0 } };
    const editor = this.#editorView(options);
    return {
      lines: [...rows, ...editor.lines, ...problem],
      cursor: { ...editor.cursor, row: editor.cursor.row + rows.length },
    };
  }

  #editorView(options: ViewOptions): EditorView {
    if (isWritten(this.question)) return editorView(this.#editor, { ...options, prompt: '  > ' });
    const prompt = `${this.#isOwnRow ? '›' : ' '} ${this.#options.length + 1} `;
    return editorView(this.#editor, { ...options, prompt, hint: 'something else: write it' });
  }

  #optionLines({ id, label, description }: SessionInputOption, index: number, options: ViewOptions): string[] {
    const { style, columns } = options;
    const box = this.isMany ? (this.#ticked.has(id) ? '☑ ' : '☐ ') : '';
    const text = `${index + 1} ${box}${printable(label)}`;
    const isHere = index === this.#row;
    const lines = wrap(text, columns - 4).map((line, at) => {
      const lead = at === 0 && isHere ? style.green('›') : ' ';
      return `${lead} ${isHere ? style.bold(line) : line}`;
    });
    const more = description ? wrap(printable(description), columns - 6).map((line) => style.dim(`    ${line}`)) : [];
    return [...lines, ...more];
  }
}
