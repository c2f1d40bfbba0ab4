/** Questions to the person, one after the other and back again, until the request is answered or declined. */
import type { SessionAction, SessionInputAnswer, SessionInputRequest } from '@atrium/protocol';
import { printable, printableLines } from '../text/printable.js';
import { wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import type { EditorView } from './editor-view.js';
import { Field } from './field.js';
import { flowed, type KeyHint } from './key-hints.js';
import type { Key } from './keys.js';

export class Form {
  readonly request: SessionInputRequest;
  readonly #fields: readonly Field[];
  #index = 0;

  constructor(request: SessionInputRequest) {
    this.request = request;
    this.#fields = (request.questions ?? []).map((question) => new Field(question));
  }

  /** Whether something is asked, and not only a yes or a no. */
  get isWritten(): boolean {
    return this.#fields.length > 0;
  }

  /** What was asked and answered, for the scrollback. */
  get summary(): string {
    return this.#fields.map(({ question, words }) => `${question.message} ${words || '(no answer)'}`).join('\n');
  }

  /** Gives the action that ends the request, when the key does that. What is no question can also wait. */
  press(key: Key): SessionAction | 'later' | undefined {
    const field = this.#fields[this.#index];
    if (key.name === 'escape') return field ? this.#completed('decline') : 'later';
    if (!field) return this.#yesOrNo(key);
    if (key.name === 'tab' && key.shift) this.#index = Math.max(0, this.#index - 1);
    else if (key.name !== 'enter') field.press(key);
    else if (field.accept()) return this.#next();
    return undefined;
  }

  #next(): SessionAction | undefined {
    if (this.#index === this.#fields.length - 1) return this.#completed('accept');
    this.#index += 1;
    return undefined;
  }

  #yesOrNo(key: Key): SessionAction | undefined {
    const letter = key.text?.toLowerCase();
    if (letter === 'y' || key.name === 'enter') return this.#completed('accept');
    return letter === 'n' ? this.#completed('decline') : undefined;
  }

  #completed(response: 'accept' | 'decline'): SessionAction {
    const base = { type: 'session/inputCompleted' as const, requestId: this.request.id, response };
    if (response === 'decline' || this.#fields.length === 0) return base;
    const answers: Record<string, SessionInputAnswer> = {};
    for (const { question, answer } of this.#fields) answers[question.id] = answer;
    return { ...base, answers };
  }

  view(options: ViewOptions): EditorView {
    const { style, columns } = options;
    const { message, url } = this.request;
    const head = [
      ...(message === undefined ? [] : wrapped(message, columns).map((line) => style.yellow(line))),
      ...(url === undefined ? [] : [style.underline(printable(url))]),
    ];
    const field = this.#fields[this.#index];
    const keys = flowed(this.#hints(field), options);
    if (!field) return { lines: [...head, ...keys], cursor: { row: head.length, column: 0 } };
    const count = this.#fields.length > 1 ? style.dim(` (${this.#index + 1} of ${this.#fields.length})`) : '';
    const question = wrapped(field.question.message, columns - 10).map((line, at) =>
      at === 0 ? style.bold(`? ${line}`) + count : style.bold(`  ${line}`),
    );
    const { lines, cursor } = field.view(options);
    const above = [...head, ...question];
    return { lines: [...above, ...lines, ...keys], cursor: { ...cursor, row: cursor.row + above.length } };
  }

  #hints(field: Field | undefined): KeyHint[] {
    if (!field)
      return [
        ['y', 'yes'],
        ['n', 'no'],
        ['Esc', 'later'],
      ];
    return [
      ...(field.isMany ? [['Space', 'ticks'] as const] : []),
      ['Enter', 'accepts'],
      ...(this.#index > 0 ? [['Shift+Tab', 'goes back'] as const] : []),
      ['Esc', 'declines'],
    ];
  }
}

function wrapped(text: string, columns: number): string[] {
  return printableLines(text)
    .split('\n')
    .flatMap((line) => wrap(line, columns - 2));
}
