/** Asks the person one question after the other, and back again, until the request is answered or declined. */
import type { ChatInputAnswer, ChatInputOption, ChatInputQuestion, ChatInputRequest } from '@atrium/protocol/ahp-1';
import type { OpenAction } from '../sessions/turn-text.js';
import { printable, shownRows } from '../text/printable.js';
import { graphemesOf, wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import { Editor, type EditorView, editorView } from './editor.js';
import type { Key } from './keys.js';
import { type KeyHint, keyHintLines, Pager, READ_ON } from './pager.js';

/** The line at the bottom of the window, and the one that the screen keeps free. */
const OTHER_ROWS = 2;
const ROWS = 24;

export class Form {
  readonly request: ChatInputRequest;
  /** The chat that takes the answer. */
  readonly chat: string;
  readonly #pager = new Pager();
  readonly #fields: readonly Field[];
  #index = 0;

  constructor(request: ChatInputRequest, chat: string) {
    this.request = request;
    this.chat = chat;
    this.#fields = (request.questions ?? []).map((question) => new Field(question));
  }

  /** Whether the person has to write an answer, and not only choose one. */
  get isWritten(): boolean {
    return this.#fields.length > 0;
  }

  /** Whether the key may end the request. Keys that go into a field cannot. */
  isAnswer({ name }: Key): boolean {
    return name !== 'escape' && (name === 'enter' || !this.isWritten);
  }

  /** Questions and answers, for the scrollback. */
  get summary(): string {
    return this.#fields.map(({ question, words }) => `${question.message} ${words || '(no answer)'}`).join('\n');
  }

  /** Returns the action if the key ends the request. A request that is not a question can also wait. */
  press(key: Key): OpenAction | 'later' | undefined {
    const field = this.#fields[this.#index];
    if (key.name === 'escape') return field ? this.#completed('decline') : 'later';
    if (!field) return this.#yesOrNo(key);
    if (key.name === 'tab' && key.shift) this.#index = Math.max(0, this.#index - 1);
    else if (key.name !== 'enter') field.press(key);
    else if (field.accept()) return this.#next();
    return undefined;
  }

  #next(): OpenAction | undefined {
    if (this.#index === this.#fields.length - 1) return this.#completed('accept');
    this.#index += 1;
    return undefined;
  }

  #yesOrNo(key: Key): OpenAction | undefined {
    if (this.#pager.press(key)) return undefined;
    const letter = key.name === 'text' ? key.text?.toLowerCase() : undefined;
    if (letter === 'y') return this.#pager.isRead ? this.#completed('accept') : undefined;
    return letter === 'n' ? this.#completed('decline') : undefined;
  }

  #completed(response: 'accept' | 'decline'): OpenAction {
    const base = { type: 'chat/inputCompleted' as const, requestId: this.request.id, response };
    if (response === 'decline' || this.#fields.length === 0) return base;
    const answers: Record<string, ChatInputAnswer> = {};
    for (const { question, answer } of this.#fields) answers[question.id] = answer;
    return { ...base, answers };
  }

  view(options: ViewOptions): EditorView {
    const { style, columns, rows = ROWS } = options;
    const { message = '', url } = this.request;
    // A request with one question often has the same text twice.
    const isAskedBelow = this.#fields.some(({ question }) => question.message.trim() === message.trim());
    const head = [
      ...(message === '' || isAskedBelow ? [] : wrapped(message, options).map((line) => style.yellow(line))),
      ...(url === undefined ? [] : shownRows(url, columns - 2, style).map((row) => style.underline(row))),
    ];
    const field = this.#fields[this.#index];
    const keys = keyHintLines(this.#hints(field), options);
    if (!field) {
      const paged = keyHintLines([READ_ON, ...this.#hints(field)], options);
      const room = rows - OTHER_ROWS;
      const hints = head.length + keys.length <= room ? keys : paged;
      const shown = this.#pager.view(head, room - hints.length, options);
      const offered = this.#pager.isRead ? hints : keyHintLines([READ_ON, ['n', 'no'], ['Esc', 'later']], options);
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
 * Cuts nothing, because a question may name programs that would start. Quoted text is indented, and stays so when its
 * line
 * continues below, so that it cannot look like the host's own words.
 */
function wrapped(text: string, { style, columns }: ViewOptions): string[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const indent = /^ */.exec(line)?.[0] ?? '';
    return shownRows(line.slice(indent.length), columns - 2 - indent.length, style, true).map((row) => indent + row);
  });
}

class Field {
  readonly question: ChatInputQuestion;
  readonly #options: readonly ChatInputOption[];
  readonly #editor: Editor;
  /** The marked row; the row after the last choice is for another answer. */
  #row: number;
  readonly #ticked = new Set<string>();
  #problem = '';

  constructor(question: ChatInputQuestion) {
    this.question = question;
    this.#options = optionsOf(question);
    this.#editor = new Editor(defaultText(question));
    this.#row = Math.max(
      0,
      this.#options.findIndex((option) => option.recommended),
    );
  }

  get answer(): ChatInputAnswer {
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

  get #value(): FieldValue {
    const own = this.isMany || this.#isOwnRow ? this.#editor.text.trim() : '';
    return {
      text: this.#editor.text,
      option: this.#options[this.#row]?.id,
      ticked: [...this.#ticked],
      own: allowsOwn(this.question) ? own : '',
    };
  }

  /** Handles Enter; true if this can be the answer. */
  accept(): boolean {
    this.#problem = problemWith(this.question, this.#value) ?? '';
    return this.#problem === '';
  }

  press(key: Key): void {
    this.#problem = '';
    if (isWritten(this.question)) this.#editor.press(key);
    else if (key.name === 'up' || key.name === 'down') this.#move(key.name === 'up' ? -1 : 1);
    else if (key.name !== 'text') this.#pressOne(key);
    // Letters that are typed fast arrive together.
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
    // Typing starts an answer that is not among the choices.
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

  #optionLines({ id, label, description }: ChatInputOption, index: number, options: ViewOptions): string[] {
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

// One question: which answers are allowed, and the answer as the protocol writes it.

/** The person's input so far. */
interface FieldValue {
  readonly text: string;
  readonly option: string | undefined;
  readonly ticked: readonly string[];
  /** An answer that is not among the choices, if that is allowed. */
  readonly own: string;
}

const YES_NO: readonly ChatInputOption[] = [
  { id: 'yes', label: 'Yes' },
  { id: 'no', label: 'No' },
];

/** True if the person writes the answer and does not choose it. */
export function isWritten({ kind }: ChatInputQuestion): boolean {
  return kind === 'text' || kind === 'number' || kind === 'integer';
}

/** True if the person may write an answer that is not among the choices. */
function allowsOwn(question: ChatInputQuestion): boolean {
  return 'allowFreeformInput' in question && question.allowFreeformInput === true;
}

function optionsOf(question: ChatInputQuestion): readonly ChatInputOption[] {
  if (question.kind === 'boolean')
    return YES_NO.map((option) => ({
      ...option,
      recommended: (option.id === 'yes') === (question.defaultValue ?? true),
    }));
  return 'options' in question ? question.options : [];
}

function defaultText(question: ChatInputQuestion): string {
  return isWritten(question) && 'defaultValue' in question ? String(question.defaultValue ?? '') : '';
}

/** Says why this cannot be the answer yet; undefined if it can. */
function problemWith(question: ChatInputQuestion, value: FieldValue): string | undefined {
  const { text, ticked, option, own } = value;
  const { required } = question;
  if (question.kind === 'multi-select') {
    const { min = required ? 1 : 0, max = Number.POSITIVE_INFINITY } = question;
    const count = ticked.length + (own === '' ? 0 : 1);
    if (count < min) return `Tick at least ${min}.`;
    return count > max ? `Tick at most ${max}.` : undefined;
  }
  if (!isWritten(question)) return required && option === undefined && own === '' ? 'An answer is needed.' : undefined;
  if (text.trim() === '') return required ? 'An answer is needed.' : undefined;
  return question.kind === 'text' ? undefined : numberProblem(question, Number(text));
}

function numberProblem(question: ChatInputQuestion, value: number): string | undefined {
  if (question.kind !== 'number' && question.kind !== 'integer') return undefined;
  if (!Number.isFinite(value)) return 'Write a number.';
  if (question.kind === 'integer' && !Number.isInteger(value)) return 'Write a whole number.';
  if (question.min !== undefined && value < question.min) return `At least ${question.min}.`;
  return question.max !== undefined && value > question.max ? `At most ${question.max}.` : undefined;
}

/** An empty field becomes a skipped question. */
function answerOf(question: ChatInputQuestion, value: FieldValue): ChatInputAnswer {
  const { text, option, ticked, own } = value;
  const freeform = own === '' ? {} : { freeformValues: [own] };
  switch (question.kind) {
    case 'multi-select':
      return { state: 'submitted', value: { kind: 'selected-many', value: [...ticked], ...freeform } };
    case 'single-select':
      return option === undefined && own === ''
        ? { state: 'skipped' }
        : { state: 'submitted', value: { kind: 'selected', value: option ?? '', ...freeform } };
    case 'boolean':
      return { state: 'submitted', value: { kind: 'boolean', value: option === 'yes' } };
    case 'text':
      return text.trim() === '' ? { state: 'skipped' } : { state: 'submitted', value: { kind: 'text', value: text } };
    default:
      return text.trim() === ''
        ? { state: 'skipped' }
        : { state: 'submitted', value: { kind: 'number', value: Number(text) } };
  }
}

/** The answer as the person would say it. */
function answerWords(question: ChatInputQuestion, { text, option, ticked, own }: FieldValue): string {
  if (isWritten(question)) return text.trim();
  const chosen = question.kind === 'multi-select' ? ticked : [option];
  const labels = optionsOf(question).flatMap(({ id, label }) => (chosen.includes(id) ? [label] : []));
  return [...labels, ...(own === '' ? [] : [own])].join(', ');
}
