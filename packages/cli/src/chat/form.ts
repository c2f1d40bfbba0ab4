/** Questions to the person, one after the other and back again, until the request is answered or declined. */
import type { SessionAction, SessionInputAnswer, SessionInputRequest } from '@atrium/protocol';
import { shownRows } from '../text/printable.js';
import type { ViewOptions } from './call-view.js';
import type { EditorView } from './editor-view.js';
import { Field } from './field.js';
import { flowed, type KeyHint } from './key-hints.js';
import type { Key } from './keys.js';
import { READ_ON, Reading } from './reading.js';

/** The line at the bottom of the window, and the one that the screen keeps free. */
const OTHER_ROWS = 2;
const ROWS = 24;

export class Form {
  readonly request: SessionInputRequest;
  readonly #reading = new Reading();
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

  /** Whether the key may be the last word. What is typed into a field is not. */
  isAnswer({ name }: Key): boolean {
    return name !== 'escape' && (name === 'enter' || !this.isWritten);
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
    if (this.#reading.press(key)) return undefined;
    const letter = key.name === 'text' ? key.text?.toLowerCase() : undefined;
    if (letter === 'y') return this.#reading.isRead ? this.#completed('accept') : undefined;
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
    const { style, columns, rows = ROWS } = options;
    const { message = '', url } = this.request;
    // A request that asks one thing often says it twice.
    const isAskedBelow = this.#fields.some(({ question }) => question.message.trim() === message.trim());
    const head = [
      ...(message === '' || isAskedBelow ? [] : wrapped(message, options).map((line) => style.yellow(line))),
      ...(url === undefined ? [] : shownRows(url, columns - 2, style).map((row) => style.underline(row))),
    ];
    const field = this.#fields[this.#index];
    const keys = flowed(this.#hints(field), options);
    if (!field) {
      const paged = flowed([READ_ON, ...this.#hints(field)], options);
      const room = rows - OTHER_ROWS;
      const hints = head.length + keys.length <= room ? keys : paged;
      const shown = this.#reading.view(head, room - hints.length, options);
      const offered = this.#reading.isRead ? hints : flowed([READ_ON, ['n', 'no'], ['Esc', 'later']], options);
      return { lines: [...shown, ...offered], cursor: { row: shown.length, column: 0 } };
    }
    const count = this.#fields.length > 1 ? style.dim(` (${this.#index + 1} of ${this.#fields.length})`) : '';
    const narrower = { style, columns: columns - 10 };
    const question = wrapped(field.question.message, narrower).map((line, at) =>
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

/**
 * Nothing is cut: what is asked may name programs that would start. What the host quotes is indented, and stays so where
 * its line goes on below, or it could pass for the host's own words.
 */
function wrapped(text: string, { style, columns }: ViewOptions): string[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const indent = /^ */.exec(line)?.[0] ?? '';
    return shownRows(line.slice(indent.length), columns - 2 - indent.length, style, true).map((row) => indent + row);
  });
}
