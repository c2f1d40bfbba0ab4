/** Whether the model may see what a tool returned. */
import type { SessionAction, SessionState, ToolCallState } from '@atrium/protocol';
import { callsIn, outputText, plain } from '../sessions/turns.js';
import { printable } from '../text/printable.js';
import { wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import type { EditorView } from './editor-view.js';
import { shownInput } from './input-text.js';
import { flowed } from './key-hints.js';
import type { Key } from './keys.js';

/** Rows of the output that are shown, as far as the window has room. */
const OUTPUT_LINES_MAX = 15;
const OUTPUT_LINES_MIN = 3;
const OTHER_ROWS = 8;

export class ResultQuestion {
  constructor(
    private readonly turnId: string,
    private readonly call: Extract<ToolCallState, { status: 'pending-result-confirmation' }>,
  ) {}

  press(key: Key): SessionAction | undefined {
    const letter = key.name === 'text' ? key.text?.toLowerCase() : undefined;
    if (letter !== 'y' && letter !== 'n') return undefined;
    const { toolCallId } = this.call;
    return { type: 'session/toolCallResultConfirmed', turnId: this.turnId, toolCallId, approved: letter === 'y' };
  }

  view(view: ViewOptions): EditorView {
    const { style, columns, rows = OUTPUT_LINES_MAX } = view;
    const title = `${this.call.displayName}: ${plain(this.call.pastTenseMessage)}. May the agent see this?`;
    const output = shownInput(outputText(this.call), columns);
    const room = Math.max(OUTPUT_LINES_MIN, Math.min(OUTPUT_LINES_MAX, rows - OTHER_ROWS));
    const hidden = output.length - room;
    const lines = [
      ...wrap(printable(title), columns - 2).map((line, at) =>
        style.yellow(style.bold(`${at === 0 ? '? ' : '  '}${line}`)),
      ),
      ...output.slice(0, room),
      ...(hidden > 0 ? [style.dim(`  … ${hidden} more lines`)] : []),
      ...flowed(
        [
          ['y', 'yes'],
          ['n', 'no'],
        ],
        view,
      ),
    ];
    return { lines, cursor: { row: lines.length - 1, column: 0 } };
  }
}

export function resultQuestion({ activeTurn }: SessionState): ResultQuestion | undefined {
  const call = callsIn(activeTurn).find((each) => each.status === 'pending-result-confirmation');
  return call && activeTurn && new ResultQuestion(activeTurn.id, call);
}
