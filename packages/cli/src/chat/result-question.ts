/** Whether the model may see what a tool returned. */
import type { SessionAction, SessionState, ToolCallState } from '@atrium/protocol';
import { callsIn, outputText, plain } from '../sessions/turns.js';
import { printable, shownRows } from '../text/printable.js';
import { wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import type { EditorView } from './editor-view.js';
import { flowed, type KeyHint } from './key-hints.js';
import type { Key } from './keys.js';
import { READ_ON, Reading } from './reading.js';

const OTHER_ROWS = 2;
const ROWS = 24;
const YES: KeyHint = ['y', 'yes'];
const NO: KeyHint = ['n', 'no'];

export class ResultQuestion {
  readonly #reading = new Reading();

  constructor(
    private readonly turnId: string,
    private readonly call: Extract<ToolCallState, { status: 'pending-result-confirmation' }>,
  ) {}

  get callId(): string {
    return this.call.toolCallId;
  }

  press(key: Key): SessionAction | undefined {
    if (this.#reading.press(key)) return undefined;
    const letter = key.name === 'text' ? key.text?.toLowerCase() : undefined;
    if (letter !== 'y' && letter !== 'n') return undefined;
    if (letter === 'y' && !this.#mayAllow()) return undefined;
    const { toolCallId } = this.call;
    return { type: 'session/toolCallResultConfirmed', turnId: this.turnId, toolCallId, approved: letter === 'y' };
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
    const shown = this.#reading.view(text, rows - OTHER_ROWS - 1, view);
    const keys = [...(this.#reading.isPaged ? [READ_ON] : []), ...(this.#mayAllow() ? [YES] : []), NO];
    const lines = [...shown, ...flowed(keys, view)];
    return { lines, cursor: { row: lines.length - 1, column: 0 } };
  }

  /** Nobody lets the agent see what they have not seen. */
  #mayAllow(): boolean {
    return this.#reading.isRead && this.#notShown() === undefined;
  }

  #notShown(): string | undefined {
    const others = (this.call.content ?? []).filter(({ type }) => type === 'resource' || type === 'embeddedResource');
    if (others.length === 0) return undefined;
    return `${others.length} more of it cannot be shown in a terminal. Look at it in the web page, and allow it there.`;
  }
}

export function resultQuestion({ activeTurn }: SessionState): ResultQuestion | undefined {
  const call = callsIn(activeTurn).find((each) => each.status === 'pending-result-confirmation');
  return call && activeTurn && new ResultQuestion(activeTurn.id, call);
}
