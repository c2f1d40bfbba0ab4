/** The question to answer before anything else: of the chat itself, of a tool call, or of the agent; one at a time. */
import type { OpenSessionState } from '@atrium/client';
import type { ChatState, ToolCallState } from '@atrium/protocol/ahp-1';
import {
  callsIn,
  type OpenAction,
  type OpenRequest,
  openRequests,
  outputText,
  pendingCalls,
  plain,
  type Target,
} from '../sessions/turn-text.js';
import { printable, shownRows } from '../text/printable.js';
import { wrap } from '../text/width.js';
import { Approval, Writing, wholeCall } from './approval.js';
import type { ViewOptions } from './call-view.js';
import type { EditorView } from './editor.js';
import type { EditDiff, Edits } from './edits.js';
import { Form } from './form.js';
import type { Key } from './keys.js';
import { type KeyHint, keyHintLines, Pager, READ_ON } from './pager.js';
import type { ShownInput, ToolInputs } from './tool-inputs.js';

export interface QuestionsOptions {
  readonly edits: Edits;
  readonly inputs: ToolInputs;
  /** Dispatches on the open chat, unless another one is named. Resolves when the host has accepted the action. */
  dispatch(action: OpenAction, chat?: string): Promise<unknown>;
  note(text: string): void;
  /** Puts lines into the scrollback. */
  show(lines: (view: ViewOptions) => readonly string[]): void;
}

/** A new question, or a new part of one, must be on the screen for this long before a key answers it. */
const NEW_QUESTION_GUARD_MS = 300;

export class Questions {
  readonly #options: QuestionsOptions;
  #confirmation: Confirmation | undefined;
  #approval: Approval | undefined;
  /** The question that gets the keys, and since when it has looked as it does now. */
  #front: Approval | ResultQuestion | Form | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  #result: ResultQuestion | undefined;
  #form: Form | undefined;
  /** The text that the person writes about the call that asks. */
  #writing: Writing | undefined;
  /** Requests that the person wants to answer later, or has answered although the host still lists them. */
  readonly #later = new Set<string>();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  get isAsking(): boolean {
    return [this.#confirmation, this.#approval, this.#form, this.#result].some((question) => question !== undefined);
  }

  get isWriting(): boolean {
    return this.#writing !== undefined;
  }

  /** A question of the chat itself. Another one that is still open counts as answered with no. */
  ask(question: string): Promise<boolean> {
    this.close();
    return new Promise((resolve) => {
      this.#confirmation = new Confirmation(question, resolve);
    });
  }

  close(): void {
    this.#confirmation?.cancel();
    this.#confirmation = undefined;
  }

  /** Shows the current question; another client may have answered the last one. */
  follow(state: OpenSessionState): void {
    const { activeTurn } = state.chat;
    const calls = pendingCalls(activeTurn);
    const [call] = calls;
    this.#waiting = calls.length;
    this.#ask(call && activeTurn && { turnId: activeTurn.id, call });
    const result = resultQuestion(state.chat);
    if (result?.callId !== this.#result?.callId) this.#result = result;
    if (this.#writing && this.#writing.target.call.toolCallId !== call?.toolCallId) this.#writing = undefined;
    this.#takeUp(openRequests(state));
    const front = this.#approval ?? this.#result ?? this.#form;
    if (front && front !== this.#front) this.#askedAt = performance.now();
    this.#front = front;
  }

  /** After a resize, a key that was pressed before must not answer what has only now become visible. */
  resized(): void {
    this.#askedAt = performance.now();
  }

  #takeUp(requests: readonly OpenRequest[]): void {
    const open = new Set(requests.map(({ request }) => request.id));
    for (const id of this.#later) if (!open.has(id)) this.#later.delete(id);
    const next = requests.find(({ request }) => !this.#later.has(request.id));
    if (next?.request.id === this.#form?.request.id) return;
    this.#form = next && new Form(next.request, next.chat);
  }

  /** Keeps the position in the text, unless another call asks now. */
  #ask(target: Target | undefined): void {
    if (target && this.#approval?.isAbout(target)) return;
    this.#approval = target && new Approval(target);
  }

  /** Ctrl+C: goes back by one step. False when there is none. Esc declines the questions of an agent. */
  cancel({ chat: { activeTurn } }: OpenSessionState): boolean {
    if (this.#confirmation) this.close();
    else if (this.#writing) this.#writing = undefined;
    else if (this.#form?.isWritten && !activeTurn) this.#fill({ name: 'escape' });
    else return false;
    return true;
  }

  /** True when the running turn should stop. */
  press(key: Key): boolean {
    if (this.#writing) this.#write(this.#writing, key);
    else if (this.#confirmation) this.#confirm(this.#confirmation, key);
    else if (this.#approval || this.#result) {
      if (key.name === 'escape') return true;
      if (this.#isNew) return false;
      if (this.#approval) this.#permit(this.#approval, key);
      else this.#send(this.#result?.press(key));
    } else if (!this.#isNew || !this.#form?.isAnswer(key)) this.#fill(key);
    return false;
  }

  get #isNew(): boolean {
    return performance.now() - this.#askedAt < NEW_QUESTION_GUARD_MS;
  }

  #write(writing: Writing, key: Key): void {
    const answer = writing.press(key);
    if (answer === undefined) return;
    this.#writing = undefined;
    if (answer !== 'back') this.#send(answer);
  }

  /** The next question counts as new. */
  #confirm(confirmation: Confirmation, key: Key): void {
    if (!confirmation.press(key)) return;
    this.#confirmation = undefined;
    this.#askedAt = performance.now();
  }

  #permit(approval: Approval, key: Key): void {
    const { target } = approval;
    const choice = approval.press(key);
    if (choice === 'view')
      this.#options.show((view) => [...wholeCall(target, { ...view, ...this.#detail(target), waiting: 1 }), '']);
    else if (choice === 'edit' || choice === 'reason') this.#writing = this.#writingAbout(choice, target);
    else this.#send(choice);
  }

  #writingAbout(purpose: 'edit' | 'reason', target: Target): Writing {
    const input = this.#options.inputs.ofCall(target.call);
    return new Writing(purpose, target, input.state === 'here' ? input.text : '');
  }

  #fill(key: Key): void {
    const form = this.#form;
    const answer = form?.press(key);
    if (!form || !answer) return;
    this.#form = undefined;
    this.#later.add(form.request.id);
    if (answer !== 'later') this.#answered(form, answer);
  }

  /** Question and answer stay readable in the scrollback, also a pairing code. */
  #answered({ request: { id, message = '' }, chat, summary }: Form, action: OpenAction): void {
    const isDeclined = action.type === 'chat/inputCompleted' && action.response !== 'accept';
    const said = [message, isDeclined ? '(declined)' : summary].filter((text) => text !== '');
    this.#options.note(said.join('\n'));
    // The chat asks again if the host did not accept the answer.
    this.#options.dispatch(action, chat).catch(() => this.#later.delete(id));
  }

  #send(action: OpenAction | undefined): void {
    // The session reports a refusal.
    if (action) this.#options.dispatch(action).catch(() => {});
  }

  /** Undefined when nothing is asked. */
  view(view: ViewOptions): EditorView | undefined {
    if (!this.#writing) return this.#questionView(view);
    const { lines, cursor } = this.#writing.view(view);
    const question = this.#questionView(withFewerRows(view, lines.length));
    const lead = question?.lines ?? [];
    return { lines: [...lead, ...lines], cursor: { ...cursor, row: cursor.row + lead.length } };
  }

  #questionView(view: ViewOptions): EditorView | undefined {
    if (this.#confirmation) return this.#confirmation.view(view);
    if (this.#approval) {
      const lines = this.#approval.view({
        ...view,
        ...this.#detail(this.#approval.target),
        waiting: this.#waiting,
      });
      return { lines, cursor: { row: lines.length - 1, column: 0 } };
    }
    return this.#result?.view(view) ?? this.#form?.view(view);
  }

  #detail({ call }: Target): { diffs: readonly EditDiff[]; input: ShownInput } {
    const { edits, inputs } = this.#options;
    return { diffs: call.edits ? edits.ofCall(call) : [], input: inputs.ofCall(call) };
  }
}

/** The view for a part that shares the window with another part. */
export function withFewerRows(view: ViewOptions, taken: number): ViewOptions {
  return view.rows === undefined ? view : { ...view, rows: Math.max(0, view.rows - taken) };
}

class Confirmation {
  readonly #question: string;
  readonly #answered: (isYes: boolean) => void;

  constructor(question: string, answered: (isYes: boolean) => void) {
    this.#question = question;
    this.#answered = answered;
  }

  /** True when the key was the answer. Enter is not one: a destructive operation needs a letter. */
  press(key: Key): boolean {
    const letter = key.text?.toLowerCase();
    if (letter === 'y') this.#answered(true);
    else if (letter === 'n' || key.name === 'escape') this.#answered(false);
    else return false;
    return true;
  }

  cancel(): void {
    this.#answered(false);
  }

  view(options: ViewOptions): EditorView {
    const { style, columns } = options;
    const question = wrap(`? ${this.#question}`, columns - 2).map((line) => style.yellow(line));
    const keys = keyHintLines(
      [
        ['y', 'yes'],
        ['n', 'no'],
      ],
      options,
    );
    return { lines: [...question, ...keys], cursor: { row: question.length, column: 0 } };
  }
}

const OTHER_ROWS = 2;
const ROWS = 24;
const YES: KeyHint = ['y', 'yes'];
const NO: KeyHint = ['n', 'no'];

export class ResultQuestion {
  readonly #pager = new Pager();

  constructor(
    private readonly turnId: string,
    private readonly call: Extract<ToolCallState, { status: 'pending-result-confirmation' }>,
  ) {}

  get callId(): string {
    return this.call.toolCallId;
  }

  press(key: Key): OpenAction | undefined {
    if (this.#pager.press(key)) return undefined;
    const letter = key.name === 'text' ? key.text?.toLowerCase() : undefined;
    if (letter !== 'y' && letter !== 'n') return undefined;
    if (letter === 'y' && !this.#canAllow()) return undefined;
    const { toolCallId } = this.call;
    return { type: 'chat/toolCallResultConfirmed', turnId: this.turnId, toolCallId, approved: letter === 'y' };
  }

  view(view: ViewOptions): EditorView {
    const { style, columns, rows = ROWS } = view;
    const title = `${this.call.displayName}: ${plain(this.call.pastTenseMessage)}. May the agent see this?`;
    const rest = this.#notShown();
    const text = [
      ...wrap(printable(title), columns - 2).map((line, at) =>
        style.yellow(style.bold(`${at === 0 ? '? ' : '  '}${line}`)),
      ),
      ...outputText(this.call)
        .split('\n')
        .flatMap((line) => shownRows(line, columns - 2, style).map((row) => `  ${row}`)),
      ...(rest === undefined ? [] : wrap(printable(rest), columns - 2).map((line) => style.yellow(`  ${line}`))),
    ];
    const shown = this.#pager.view(text, rows - OTHER_ROWS - 1, view);
    const keys = [...(this.#pager.isPaged ? [READ_ON] : []), ...(this.#canAllow() ? [YES] : []), NO];
    const lines = [...shown, ...keyHintLines(keys, view)];
    return { lines, cursor: { row: lines.length - 1, column: 0 } };
  }

  /** A person allows only what they have seen. */
  #canAllow(): boolean {
    return this.#pager.isRead && this.#notShown() === undefined;
  }

  #notShown(): string | undefined {
    const others = (this.call.content ?? []).filter(({ type }) => type === 'resource' || type === 'embeddedResource');
    if (others.length === 0) return undefined;
    return `${others.length} more of it cannot be shown in a terminal. Look at it in the web page, and allow it there.`;
  }
}

function resultQuestion({ activeTurn }: ChatState): ResultQuestion | undefined {
  const call = callsIn(activeTurn).find((each) => each.status === 'pending-result-confirmation');
  return call && activeTurn && new ResultQuestion(activeTurn.id, call);
}
