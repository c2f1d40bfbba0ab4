/** The mirror of a terminal does not grow with its output: beyond a limit the oldest is dropped, as the host does, too. */
import type { TerminalContentPart, TerminalState } from '@atrium/protocol';

/** From here on the oldest is dropped … */
export const TERMINAL_MAX_CHARACTERS = 4 * 2 ** 20;
/** … down to this, so that it does not happen with every piece. */
export const TERMINAL_KEPT_CHARACTERS = 3 * 2 ** 20;
export const TERMINAL_MAX_PARTS = 20_000;

export function boundedTerminal(state: TerminalState): TerminalState {
  const { content } = state;
  const size = content.reduce((sum, part) => sum + textOf(part).length, 0);
  if (size <= TERMINAL_MAX_CHARACTERS && content.length <= TERMINAL_MAX_PARTS) return state;
  return { ...state, content: newest(content.slice(-TERMINAL_MAX_PARTS)) };
}

/** The newest parts; the oldest of them loses its beginning, at the end of a line where there is one. */
function newest(content: readonly TerminalContentPart[]): TerminalContentPart[] {
  const kept: TerminalContentPart[] = [];
  let room = TERMINAL_KEPT_CHARACTERS;
  for (const part of [...content].reverse()) {
    if (room <= 0) break;
    const text = textOf(part);
    kept.push(text.length <= room ? part : withText(part, fromNextLine(text, text.length - room)));
    room -= text.length;
  }
  return kept.reverse();
}

function fromNextLine(text: string, start: number): string {
  const line = text.indexOf('\n', start);
  return text.slice(line < 0 ? start : line + 1);
}

function textOf(part: TerminalContentPart): string {
  if (part.type === 'unclassified') return part.value;
  return part.type === 'command' ? part.output : '';
}

function withText(part: TerminalContentPart, text: string): TerminalContentPart {
  return part.type === 'command' ? { ...part, output: text } : { ...part, value: text };
}
