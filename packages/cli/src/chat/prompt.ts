/** The lower part of a chat: the message that is being written, or the question that has to be answered first. */
import type { MessageAttachment, SessionAction, SessionState } from '@atrium/protocol';
import type { Target } from '../sessions/confirm.js';
import { pendingCalls } from '../sessions/turns.js';
import { approvalLines, choiceOf, wholeCall } from './approval.js';
import type { ViewOptions } from './call-view.js';
import { Confirmation } from './confirmation.js';
import { type EditorView, editorView } from './editor-view.js';
import type { EditDiff, Edits } from './edits.js';
import { Form } from './form.js';
import type { Key } from './keys.js';
import { menuLines } from './menu.js';
import { type Finder, MessageLine, type Wish } from './message-line.js';
import { type ResultQuestion, resultQuestion } from './result-question.js';
import { Writing } from './writing.js';

export interface PromptParts {
  readonly edits: Edits;
  readonly finder: Finder;
  dispatch(action: SessionAction): void;
  note(text: string): void;
  /** Puts lines into the scrollback. */
  show(lines: (view: ViewOptions) => readonly string[]): void;
}

/** A question that takes the place of another must be seen before the same key answers it, too. */
const NEW_QUESTION_GUARD_MS = 300;

export class Prompt {
  readonly #parts: PromptParts;
  readonly #line: MessageLine;
  #confirmation: Confirmation | undefined;
  #target: Target | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  #result: ResultQuestion | undefined;
  #form: Form | undefined;
  #writing: Writing | undefined;
  /** Requests that the person wants to answer later. */
  readonly #later = new Set<string>();

  constructor(parts: PromptParts) {
    this.#parts = parts;
    this.#line = new MessageLine(parts.finder);
  }

  get isEmpty(): boolean {
    return this.#line.editor.text === '' && !this.#writing;
  }

  get isAsking(): boolean {
    return [this.#confirmation, this.#target, this.#form, this.#result].some((question) => question !== undefined);
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

  /** A question of the chat itself. Another one that is still open counts as answered with no. */
  ask(question: string): Promise<boolean> {
    this.#confirmation?.cancel();
    return new Promise((resolve) => {
      this.#confirmation = new Confirmation(question, resolve);
    });
  }

  close(): void {
    this.#line.completer.close();
    this.#confirmation?.cancel();
  }

  remember(text: string): void {
    this.#line.editor.remember(text);
  }

  /** Looks at what is asked now. Somebody else may have answered. */
  follow(state: SessionState): void {
    const calls = pendingCalls(state.activeTurn);
    const [call] = calls;
    this.#waiting = calls.length;
    if (call && call.toolCallId !== this.#target?.call.toolCallId) this.#askedAt = performance.now();
    this.#target = call && state.activeTurn ? { turnId: state.activeTurn.id, call } : undefined;
    this.#result = resultQuestion(state);
    if (this.#writing && this.#writing.target.call.toolCallId !== call?.toolCallId) this.#writing = undefined;
    const request = state.inputRequests?.find(({ id }) => !this.#later.has(id));
    if (request?.id !== this.#form?.request.id) this.#form = request && new Form(request);
  }

  /** Ctrl+C: takes back what is being written. False when there is nothing. */
  cancel(): boolean {
    if (this.#confirmation) {
      this.#confirmation.cancel();
      this.#confirmation = undefined;
      return true;
    }
    if (this.isEmpty) return false;
    if (this.#writing) this.#writing = undefined;
    else this.set('');
    this.#line.completer.follow();
    return true;
  }

  press(key: Key): Wish | undefined {
    if (this.#writing) return this.#write(this.#writing, key);
    if (this.isAsking && !this.#line.isBusy) return this.#answer(key);
    return this.#line.press(key);
  }

  #answer(key: Key): Wish | undefined {
    if (this.#confirmation) return this.#confirm(this.#confirmation, key);
    if (this.#target) return this.#permit(this.#target, key);
    if (this.#result) {
      const action = this.#result.press(key);
      if (action) this.#parts.dispatch(action);
      return key.name === 'escape' ? { kind: 'stop' } : undefined;
    }
    const answer = this.#form?.press(key);
    if (answer === 'later') this.#putOff();
    else if (answer) this.#answered(answer);
    return undefined;
  }

  /** What was waiting behind it is a new question. */
  #confirm(confirmation: Confirmation, key: Key): undefined {
    if (!confirmation.press(key)) return;
    this.#confirmation = undefined;
    this.#askedAt = performance.now();
  }

  #putOff(): void {
    this.#later.add(this.#form?.request.id ?? '');
    this.#form = undefined;
  }

  /** What was asked and answered stays readable, also a pairing code. */
  #answered(action: SessionAction): void {
    const isDeclined = action.type === 'session/inputCompleted' && action.response !== 'accept';
    const { message = '' } = this.#form?.request ?? {};
    const said = [message, isDeclined ? '(declined)' : (this.#form?.summary ?? '')].filter((text) => text !== '');
    this.#parts.note(said.join('\n'));
    this.#form = undefined;
    this.#parts.dispatch(action);
  }

  #permit(target: Target, key: Key): Wish | undefined {
    if (key.name === 'escape') return { kind: 'stop' };
    if (performance.now() - this.#askedAt < NEW_QUESTION_GUARD_MS) return undefined;
    const choice = choiceOf(key, target);
    if (choice === 'view') this.#parts.show((view) => wholeCall(target, { ...view, diffs: this.#diffs(target) }));
    else if (choice === 'edit' || choice === 'reason') this.#writing = new Writing(choice, target);
    else if (choice) this.#parts.dispatch(choice);
    return undefined;
  }

  #write(writing: Writing, key: Key): undefined {
    const answer = writing.press(key);
    if (answer === undefined) return;
    this.#writing = undefined;
    if (answer !== 'back') this.#parts.dispatch(answer);
  }

  view(state: SessionState, view: ViewOptions): EditorView {
    const question = this.#questionView(view);
    if (question && !this.#writing)
      return this.isEmpty ? question : below(question, editorView(this.#line.editor, view).lines);
    const idleHint = (state.queuedMessages?.length ?? 0) > 0 ? 'Enter sends what waits' : 'write a message';
    const hint = state.activeTurn ? 'write to queue, Alt+Enter to steer' : idleHint;
    if (!this.#writing) {
      const { lines, cursor } = editorView(this.#line.editor, { ...view, hint });
      return { lines: [...lines, ...menuLines(this.#line.completer.menu, view)], cursor };
    }
    const { lines, cursor } = this.#writing.view(view);
    const lead = question?.lines ?? [];
    return { lines: [...lead, ...lines], cursor: { ...cursor, row: cursor.row + lead.length } };
  }

  #questionView(view: ViewOptions): EditorView | undefined {
    if (this.#confirmation) return this.#confirmation.view(view);
    if (this.#target) {
      const diffs = this.#diffs(this.#target);
      const lines = approvalLines(this.#target, { ...view, diffs, waiting: this.#waiting });
      return { lines, cursor: { row: lines.length - 1, column: 0 } };
    }
    return this.#result?.view(view) ?? this.#form?.view(view);
  }

  #diffs({ call }: Target): readonly EditDiff[] {
    return call.edits ? this.#parts.edits.ofCall(call) : [];
  }
}

/** The text that was begun is still there, below the question. */
function below(question: EditorView, lines: readonly string[]): EditorView {
  return { lines: [...question.lines, ...lines], cursor: question.cursor };
}
