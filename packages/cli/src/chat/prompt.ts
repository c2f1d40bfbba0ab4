/** The lower part of a chat: the message that the person is writing, or the question to answer first. */
import type { OpenSessionState } from '@atrium/client';
import type { MessageAttachment } from '@atrium/protocol/ahp-1';
import { Attaching, type AttachingOptions } from './attaching.js';
import type { ViewOptions } from './call-view.js';
import { Completer, type CompleterOptions, Mentions, menuLines } from './completer.js';
import { Editor, type EditorView, editorView } from './editor.js';
import type { Key } from './keys.js';
import { Questions, type QuestionsOptions, withFewerRows } from './questions.js';
import type { Draft } from './slash.js';

interface PromptOptions extends QuestionsOptions {
  readonly finder: Finder;
  readonly attaching: AttachingOptions;
}

export class Prompt {
  readonly #line: MessageLine;
  readonly #questions: Questions;

  constructor(options: PromptOptions) {
    this.#line = new MessageLine(options);
    this.#questions = new Questions(options);
  }

  get isEmpty(): boolean {
    return this.#line.isEmpty && !this.#questions.isWriting;
  }

  /** An attachment has not arrived yet. */
  get isAttaching(): boolean {
    return this.#line.attaching.isBusy;
  }

  get isAsking(): boolean {
    return this.#questions.isAsking;
  }

  /** The text in the line. */
  get text(): string {
    return this.#line.editor.text;
  }

  /** Puts a text into the line, to be edited. */
  set(text: string, attachments: readonly MessageAttachment[] = []): void {
    const { editor, mentions } = this.#line;
    editor.set(text);
    mentions.carry([...mentions.carried, ...attachments]);
  }

  /** The message that was begun and not sent. */
  get draft(): Draft | undefined {
    const { editor, mentions } = this.#line;
    return this.#line.isEmpty ? undefined : { text: editor.text, attachments: mentions.carried };
  }

  /** Attaches the picture in the clipboard. */
  pasteClipboard(): void {
    this.#line.attaching.pasteClipboard();
  }

  /** The attachments of a text. */
  takeAttachments(text: string): MessageAttachment[] {
    return this.#line.mentions.take(text);
  }

  /** A question of the chat itself. */
  ask(question: string): Promise<boolean> {
    return this.#questions.ask(question);
  }

  close(): void {
    this.#line.completer.close();
    this.#questions.close();
  }

  remember(text: string): void {
    this.#line.editor.remember(text);
  }

  follow(state: OpenSessionState): void {
    this.#questions.follow(state);
  }

  resized(): void {
    this.#questions.resized();
  }

  /** Ctrl+C: clears the answer or the text. False when both are empty. */
  cancel(state: OpenSessionState): boolean {
    if (this.#questions.cancel(state)) return true;
    if (this.isEmpty) return false;
    this.set('');
    this.#line.editor.clear();
    this.#line.attaching.clear();
    this.#line.completer.follow();
    return true;
  }

  press(key: Key): PromptRequest | undefined {
    const isAnswer = this.isAsking && !this.#line.isBusy;
    if (!this.#questions.isWriting && !isAnswer) return this.#line.press(key);
    return this.#questions.press(key) ? { kind: 'stop' } : undefined;
  }

  view(state: OpenSessionState, view: ViewOptions): EditorView {
    if (this.#questions.isWriting || this.isEmpty) return this.#questions.view(view) ?? this.#lineView(state, view);
    // The text stays visible below the question, which has the rest of the window.
    const lines = [...this.#line.attaching.lines(view), ...editorView(this.#line.editor, view).lines];
    const question = this.#questions.view(withFewerRows(view, lines.length));
    return question ? { lines: [...question.lines, ...lines], cursor: question.cursor } : this.#lineView(state, view);
  }

  #lineView({ chat }: OpenSessionState, view: ViewOptions): EditorView {
    const { queuedMessages = [], activeTurn, interactivity } = chat;
    const idleHint = queuedMessages.length > 0 ? 'Enter sends what waits' : 'write a message';
    const own = activeTurn ? 'write to queue, Alt+Enter to steer' : idleHint;
    const hint = interactivity === 'read-only' ? 'the chat of a worker: Ctrl+G goes back' : own;
    const { lines, cursor } = editorView(this.#line.editor, { ...view, hint });
    const above = this.#line.attaching.lines(view);
    return {
      lines: [...above, ...lines, ...menuLines(this.#line.completer.menu, view)],
      cursor: { ...cursor, row: cursor.row + above.length },
    };
  }
}

type PromptRequest =
  | { readonly kind: 'send' | 'steer'; readonly text: string }
  /** `next`: the first waiting message may begin. */
  /** `mode`: switches to the next mode. */
  | { readonly kind: 'stop' | 'next' | 'mode' };

/** A question that appears while the person types must not take a letter of the text as its answer. */
const TYPING_GUARD_MS = 500;

/** Finds completions of a word. */
export type Finder = Omit<CompleterOptions, 'editor' | 'mentions'>;

class MessageLine {
  readonly editor = new Editor();
  readonly mentions = new Mentions();
  readonly completer: Completer;
  readonly attaching: Attaching;
  #lastTyped = Number.NEGATIVE_INFINITY;

  constructor({ finder, attaching }: Pick<PromptOptions, 'finder' | 'attaching'>) {
    this.completer = new Completer({ ...finder, editor: this.editor, mentions: this.mentions });
    this.attaching = new Attaching(attaching, this.mentions);
  }

  get isEmpty(): boolean {
    return this.editor.text === '' && this.attaching.isEmpty;
  }

  /** Whether the person has just typed. */
  get isBusy(): boolean {
    return performance.now() - this.#lastTyped < TYPING_GUARD_MS;
  }

  press(key: Key): PromptRequest | undefined {
    this.#lastTyped = performance.now();
    if (key.name === 'tab' && key.shift && this.completer.menu.choices.length === 0) return { kind: 'mode' };
    if (key.name === 'tab') {
      this.completer.press(key.shift ? -1 : 1);
      return undefined;
    }
    const wish = this.#press(key);
    this.completer.follow();
    return wish;
  }

  #press(key: Key): PromptRequest | undefined {
    const { editor, attaching } = this;
    const steers = (key.name === 'enter' && key.alt) || (key.ctrl && key.name === 's');
    if (key.name === 'escape') return { kind: 'stop' };
    if (key.name === 'paste' && attaching.paste(key.text ?? '')) return undefined;
    if (key.name === 'backspace' && editor.cursor === 0 && attaching.removeLast()) return undefined;
    if (key.ctrl && key.name === 'v') attaching.pasteClipboard();
    else if (key.alt && key.name === 'j') editor.insert('\n');
    else if (key.name !== 'enter' && !steers) editor.press(key);
    else if (key.shift || (key.name === 'enter' && editor.text.endsWith('\\'))) this.#breakLine();
    else if (editor.text.trim() === '' && attaching.isEmpty) return { kind: 'next' };
    else return { kind: steers ? 'steer' : 'send', text: editor.take() };
    return undefined;
  }

  /** A backslash at the end of a line makes a new line. */
  #breakLine(): void {
    if (this.editor.text.endsWith('\\')) this.editor.press({ name: 'backspace' });
    this.editor.insert('\n');
  }
}
