/** Questions to the person, one after the other, until the request is answered or declined. */
import type { SessionAction, SessionInputAnswer, SessionInputQuestion, SessionInputRequest } from '@atrium/protocol';
import { printable, printableLines } from '../text/printable.js';
import { wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import { Editor } from './editor.js';
import { type EditorView, editorView } from './editor-view.js';
import type { Key } from './keys.js';
import { type AnswerValue, answerOf, defaultText, isWritten, optionsOf, problemWith } from './question.js';

export class Form {
  readonly request: SessionInputRequest;
  readonly #answers: Record<string, SessionInputAnswer> = {};
  #index = 0;
  #editor = new Editor();
  #highlighted = 0;
  readonly #ticked = new Set<string>();
  #problem = '';

  constructor(request: SessionInputRequest) {
    this.request = request;
    this.#begin();
  }

  get #question(): SessionInputQuestion | undefined {
    return this.request.questions?.[this.#index];
  }

  #begin(): void {
    const question = this.#question;
    this.#editor = new Editor(question ? defaultText(question) : '');
    const recommended = question ? optionsOf(question).findIndex((option) => option.recommended) : -1;
    this.#highlighted = Math.max(0, recommended);
    this.#ticked.clear();
    this.#problem = '';
  }

  /** Gives the action that ends the request, when the key does that. What is no question can also wait. */
  press(key: Key): SessionAction | 'later' | undefined {
    const question = this.#question;
    if (key.name === 'escape') return question ? this.#completed('decline') : 'later';
    if (!question) return this.#yesOrNo(key);
    if (key.name === 'enter') return this.#accept(question);
    if (isWritten(question)) this.#editor.press(key);
    else this.#choose(question, key);
    return undefined;
  }

  #yesOrNo(key: Key): SessionAction | undefined {
    const letter = key.text?.toLowerCase();
    if (letter === 'y' || key.name === 'enter') return this.#completed('accept');
    return letter === 'n' ? this.#completed('decline') : undefined;
  }

  #choose(question: SessionInputQuestion, key: Key): void {
    const options = optionsOf(question);
    const digit = key.name === 'text' && /^[1-9]$/.test(key.text ?? '') ? Number(key.text) - 1 : undefined;
    if (key.name === 'up') this.#highlighted = Math.max(0, this.#highlighted - 1);
    if (key.name === 'down') this.#highlighted = Math.min(options.length - 1, this.#highlighted + 1);
    if (digit !== undefined && digit < options.length) this.#highlighted = digit;
    if (question.kind === 'multi-select' && (key.text === ' ' || digit !== undefined))
      this.#tick(options[this.#highlighted]?.id);
  }

  #tick(id: string | undefined): void {
    if (id === undefined) return;
    if (!this.#ticked.delete(id)) this.#ticked.add(id);
  }

  #accept(question: SessionInputQuestion): SessionAction | undefined {
    const value: AnswerValue = {
      text: this.#editor.text,
      option: optionsOf(question)[this.#highlighted]?.id,
      ticked: [...this.#ticked],
    };
    this.#problem = problemWith(question, value) ?? '';
    if (this.#problem !== '') return undefined;
    this.#answers[question.id] = answerOf(question, value);
    this.#index += 1;
    if (!this.#question) return this.#completed('accept');
    this.#begin();
    return undefined;
  }

  #completed(response: 'accept' | 'decline'): SessionAction {
    const hasAnswers = response === 'accept' && Object.keys(this.#answers).length > 0;
    const base = { type: 'session/inputCompleted' as const, requestId: this.request.id, response };
    return hasAnswers ? { ...base, answers: this.#answers } : base;
  }

  view(options: ViewOptions): EditorView {
    const { style, columns } = options;
    const { message, url, questions = [] } = this.request;
    const question = this.#question;
    const count = questions.length > 1 ? style.dim(` (${this.#index + 1} of ${questions.length})`) : '';
    const lines = [
      ...(message === undefined ? [] : wrapped(message, columns).map((line) => style.yellow(line))),
      ...(url === undefined ? [] : [style.underline(printable(url))]),
      ...(question
        ? wrapped(question.message, columns).map(
            (line, at) => style.bold(at === 0 ? `? ${line}` : `  ${line}`) + (at === 0 ? count : ''),
          )
        : []),
    ];
    if (!question)
      return ended([
        ...lines,
        `  ${style.bold('y')} yes ${style.dim('·')} ${style.bold('n')} no ${style.dim('·')} ${style.bold('Esc')} later`,
      ]);
    const problem = this.#problem === '' ? [] : [style.red(`  ${this.#problem}`)];
    const keys =
      question.kind === 'multi-select' ? 'Space ticks · Enter accepts · Esc declines' : 'Enter accepts · Esc declines';
    const foot = [...problem, style.dim(`  ${keys}`)];
    if (!isWritten(question)) return ended([...lines, ...this.#optionLines(question, options), ...foot]);
    const editor = editorView(this.#editor, { ...options, prompt: '  > ' });
    return {
      lines: [...lines, ...editor.lines, ...foot],
      cursor: { ...editor.cursor, row: editor.cursor.row + lines.length },
    };
  }

  #optionLines(question: SessionInputQuestion, { style }: ViewOptions): string[] {
    return optionsOf(question).map(({ id, label, description }, index) => {
      const isMany = question.kind === 'multi-select';
      const box = isMany ? (this.#ticked.has(id) ? '☑ ' : '☐ ') : '';
      const text = `${index + 1} ${box}${printable(label)}${description ? style.dim(`  ${printable(description)}`) : ''}`;
      return index === this.#highlighted ? `${style.green('›')} ${style.bold(text)}` : `  ${text}`;
    });
  }
}

function wrapped(text: string, columns: number): string[] {
  return printableLines(text)
    .split('\n')
    .flatMap((line) => wrap(line, columns - 2));
}

/** The cursor rests behind the last line. */
function ended(lines: string[]): EditorView {
  return { lines, cursor: { row: Math.max(0, lines.length - 1), column: 0 } };
}
