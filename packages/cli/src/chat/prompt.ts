/** The lower part of a chat: the message that is being written, or the question that has to be answered first. */
import type { SessionAction, SessionState } from '@atrium/protocol';
import { approve, deny, type Target } from '../sessions/confirm.js';
import { pendingCalls } from '../sessions/turns.js';
import { approvalLines, choiceOf } from './approval.js';
import type { ViewOptions } from './call-view.js';
import { Editor } from './editor.js';
import { type EditorView, editorView } from './editor-view.js';
import type { Edits } from './edits.js';
import { Form } from './form.js';
import type { Key } from './keys.js';
import { MessageLine, type Wish } from './message-line.js';
import { type ResultQuestion, resultQuestion } from './result-question.js';

export interface PromptParts {
  readonly edits: Edits;
  dispatch(action: SessionAction): void;
  note(text: string): void;
}

/** Something that is written about a call: its input, or why it must not run. */
interface Writing {
  readonly purpose: 'edit' | 'reason';
  readonly target: Target;
  readonly editor: Editor;
}

export class Prompt {
  readonly #parts: PromptParts;
  readonly #line = new MessageLine();
  #target: Target | undefined;
  #waiting = 0;
  #result: ResultQuestion | undefined;
  #form: Form | undefined;
  #writing: Writing | undefined;
  /** Requests that the person wants to answer later. */
  readonly #later = new Set<string>();

  constructor(parts: PromptParts) {
    this.#parts = parts;
  }

  get isEmpty(): boolean {
    return this.#line.editor.text === '' && !this.#writing;
  }

  get isAsking(): boolean {
    return this.#target !== undefined || this.#form !== undefined || this.#result !== undefined;
  }

  remember(text: string): void {
    this.#line.editor.remember(text);
  }

  /** Looks at what is asked now. Somebody else may have answered. */
  follow(state: SessionState): void {
    const calls = pendingCalls(state.activeTurn);
    const [call] = calls;
    this.#waiting = calls.length;
    this.#target = call && state.activeTurn ? { turnId: state.activeTurn.id, call } : undefined;
    this.#result = resultQuestion(state);
    if (this.#writing && this.#writing.target.call.toolCallId !== call?.toolCallId) this.#writing = undefined;
    const request = state.inputRequests?.find(({ id }) => !this.#later.has(id));
    if (request?.id !== this.#form?.request.id) this.#form = request && new Form(request);
  }

  /** Ctrl+C: takes back what is being written. False when there is nothing. */
  cancel(): boolean {
    if (this.isEmpty) return false;
    if (this.#writing) this.#writing = undefined;
    else this.#line.editor.set('');
    return true;
  }

  press(key: Key): Wish | undefined {
    if (this.#writing) return this.#write(this.#writing, key);
    if (this.isAsking && !this.#line.isBusy) return this.#answer(key);
    return this.#line.press(key);
  }

  #answer(key: Key): Wish | undefined {
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

  #putOff(): void {
    this.#later.add(this.#form?.request.id ?? '');
    this.#form = undefined;
  }

  /** What was shown, such as a pairing code, stays readable. */
  #answered(action: SessionAction): void {
    const { message, questions = [] } = this.#form?.request ?? {};
    if (message !== undefined && questions.length === 0) this.#parts.note(message);
    this.#form = undefined;
    this.#parts.dispatch(action);
  }

  #permit(target: Target, key: Key): Wish | undefined {
    if (key.name === 'escape') return { kind: 'stop' };
    const choice = choiceOf(key, target);
    if (choice === 'edit' || choice === 'reason') {
      const editor = new Editor(choice === 'edit' ? (target.call.toolInput ?? '') : '');
      this.#writing = { purpose: choice, target, editor };
    } else if (choice) this.#parts.dispatch(choice);
    return undefined;
  }

  #write({ purpose, target, editor }: Writing, key: Key): undefined {
    if (key.name === 'escape') this.#writing = undefined;
    else if (key.name === 'enter' && !key.alt) {
      this.#writing = undefined;
      const { text } = editor;
      if (purpose === 'edit') this.#parts.dispatch(approve(target, { editedInput: text }));
      else this.#parts.dispatch(deny(target, text.trim() === '' ? {} : { reason: text }));
    } else editor.press(key);
  }

  view(state: SessionState, view: ViewOptions): EditorView {
    const question = this.#questionView(view);
    if (question && !this.#writing)
      return this.isEmpty ? question : below(question, editorView(this.#line.editor, view).lines);
    const isWaiting = (state.queuedMessages?.length ?? 0) > 0;
    const idleHint = isWaiting ? 'Enter sends what waits' : 'write a message';
    const hint = state.activeTurn ? 'write to queue, Alt+Enter to steer' : idleHint;
    const label = this.#writing?.purpose === 'edit' ? 'input> ' : 'why not> ';
    const editor = this.#writing
      ? editorView(this.#writing.editor, { ...view, prompt: label, hint: 'Enter sends, Esc goes back' })
      : editorView(this.#line.editor, { ...view, hint });
    const lead = this.#writing ? (question?.lines ?? []) : [];
    return { lines: [...lead, ...editor.lines], cursor: { ...editor.cursor, row: editor.cursor.row + lead.length } };
  }

  #questionView(view: ViewOptions): EditorView | undefined {
    if (this.#target) {
      const { call } = this.#target;
      const diffs = call.edits ? this.#parts.edits.ofCall(call) : [];
      const lines = approvalLines(this.#target, { ...view, diffs, waiting: this.#waiting });
      return { lines, cursor: { row: lines.length - 1, column: 0 } };
    }
    return this.#result?.view(view) ?? this.#form?.view(view);
  }
}

/** The text that was begun is still there, below the question. */
function below(question: EditorView, lines: readonly string[]): EditorView {
  return { lines: [...question.lines, ...lines], cursor: question.cursor };
}
