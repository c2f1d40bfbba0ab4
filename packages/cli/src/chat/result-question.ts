/** Whether the model may see what a tool returned. */
import type { SessionAction, SessionState, ToolCallState } from '@atrium/protocol';
import { callsIn, outputText, plain } from '../sessions/turns.js';
import { printable } from '../text/printable.js';
import { cut } from '../text/width.js';
import { inputLines } from './approval.js';
import type { ViewOptions } from './call-view.js';
import type { EditorView } from './editor-view.js';
import type { Key } from './keys.js';

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

  view({ style, columns }: ViewOptions): EditorView {
    const title = `? ${this.call.displayName}: ${printable(plain(this.call.pastTenseMessage))}. May the agent see this?`;
    const lines = [
      style.yellow(style.bold(cut(title, columns))),
      ...inputLines(outputText(this.call)).map((line) => cut(line, columns)),
      `  ${style.bold('y')} yes ${style.dim('·')} ${style.bold('n')} no`,
    ];
    return { lines, cursor: { row: lines.length - 1, column: 0 } };
  }
}

export function resultQuestion({ activeTurn }: SessionState): ResultQuestion | undefined {
  const call = callsIn(activeTurn).find((each) => each.status === 'pending-result-confirmation');
  return call && activeTurn && new ResultQuestion(activeTurn.id, call);
}
