/** The lower part of a chat: the message that is being written, or the question that has to be answered first. */
import type { MessageAttachment, SessionState } from '@atrium/protocol';
import type { ViewOptions } from './call-view.js';
import { type EditorView, editorView } from './editor-view.js';
import type { Key } from './keys.js';
import { menuLines } from './menu.js';
import { type Finder, MessageLine, type Wish } from './message-line.js';
import { type QuestionParts, Questions, withFewerRows } from './questions.js';

export interface PromptParts extends QuestionParts {
  readonly finder: Finder;
}

export class Prompt {
  readonly #line: MessageLine;
  readonly #questions: Questions;

  constructor(parts: PromptParts) {
    this.#line = new MessageLine(parts.finder);
    this.#questions = new Questions(parts);
  }

  get isEmpty(): boolean {
    return this.#line.editor.text === '' && !this.#questions.isWriting;
  }

  get isAsking(): boolean {
    return this.#questions.isAsking;
  }

  /** Puts a text into the line, to be written on. */
  set(text: string, attachments: readonly MessageAttachment[] = []): void {
    this.#line.editor.set(text);
    this.#line.mentions.carry(attachments);
  }

  /** What goes along with a text. */
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

  follow(state: SessionState): void {
    this.#questions.follow(state);
  }

  /** Ctrl+C: takes back what is being answered or written. False when there is nothing. */
  cancel(state: SessionState): boolean {
    if (this.#questions.cancel(state)) return true;
    if (this.isEmpty) return false;
    this.set('');
    this.#line.completer.follow();
    return true;
  }

  press(key: Key): Wish | undefined {
    const isAnswer = this.isAsking && !this.#line.isBusy;
    if (!this.#questions.isWriting && !isAnswer) return this.#line.press(key);
    return this.#questions.press(key) ? { kind: 'stop' } : undefined;
  }

  view(state: SessionState, view: ViewOptions): EditorView {
    if (this.#questions.isWriting || this.isEmpty) return this.#questions.view(view) ?? this.#lineView(state, view);
    // The text that was begun is still there, below the question, which has the rest of the window.
    const { lines } = editorView(this.#line.editor, view);
    const question = this.#questions.view(withFewerRows(view, lines.length));
    return question ? { lines: [...question.lines, ...lines], cursor: question.cursor } : this.#lineView(state, view);
  }

  #lineView({ queuedMessages = [], activeTurn }: SessionState, view: ViewOptions): EditorView {
    const idleHint = queuedMessages.length > 0 ? 'Enter sends what waits' : 'write a message';
    const hint = activeTurn ? 'write to queue, Alt+Enter to steer' : idleHint;
    const { lines, cursor } = editorView(this.#line.editor, { ...view, hint });
    return { lines: [...lines, ...menuLines(this.#line.completer.menu, view)], cursor };
  }
}
