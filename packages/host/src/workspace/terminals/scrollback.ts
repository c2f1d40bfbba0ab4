/** The terminal's reducer with a bound: drops the oldest output, so that a terminal's state never exceeds a limit. */
import type { StateAction, TerminalContentPart, TerminalState } from '@atrium/protocol/ahp-1';
import { terminalReducer } from '@atrium/protocol/ahp-1';

/** Output that a terminal shows. Above the first limit, the oldest output is dropped down to the second. */
export const SCROLLBACK_MAX_CHARACTERS = 2 ** 20;
export const SCROLLBACK_KEPT_CHARACTERS = 768 * 2 ** 10;
export const SCROLLBACK_MAX_PARTS = 400;
export const SCROLLBACK_KEPT_PARTS = 300;
/** After this many characters of small writes, the output is flattened into one string. */
export const SCROLLBACK_PIECE_CHARACTERS = 128 * 2 ** 10;

/** How far a cut may move to fall on a line break. */
const LINE_SEARCH_CHARACTERS = 1_024;
/** A write of at most this size counts as small. */
const SMALL_WRITE_MAX_CHARACTERS = 4 * 2 ** 10;
/** How far back an escape sequence may have begun. */
const ESCAPE_SEARCH_CHARACTERS = 256;

export function reduceBounded(state: TerminalState, action: StateAction): TerminalState {
  const next = terminalReducer(state, action);
  if (next.content === state.content) return next;
  if (action.type === 'terminal/data') makeOnePiece(next.content.at(-1), action.data.length);
  const content = trimmed(next.content);
  return content === next.content ? next : { ...next, content };
}

/** Once over the limit, drops well below it, so that many writes share the cost of dropping. */
export function trimmed(content: TerminalContentPart[]): TerminalContentPart[] {
  const size = content.reduce((sum, part) => sum + textOf(part).length, 0);
  if (size <= SCROLLBACK_MAX_CHARACTERS && content.length <= SCROLLBACK_MAX_PARTS) return content;
  const firstKept = content.length > SCROLLBACK_MAX_PARTS ? content.length - SCROLLBACK_KEPT_PARTS : 0;
  return withinSize(content.slice(firstKept), SCROLLBACK_KEPT_CHARACTERS);
}

/** The newest parts with this many characters in total; the oldest of them loses its beginning. */
function withinSize(content: readonly TerminalContentPart[], maxCharacters: number): TerminalContentPart[] {
  const kept: TerminalContentPart[] = [];
  let room = maxCharacters;
  for (let index = content.length - 1; index >= 0 && room > 0; index--) {
    const part = content[index];
    if (!part) break;
    const text = textOf(part);
    kept.push(text.length <= room ? part : withText(part, text.slice(cutAt(text, text.length - room))));
    room -= text.length;
  }
  return kept.reverse();
}

/** The first place from here on where a text can begin: a new line, or at least not inside a character or sequence. */
export function cutAt(text: string, wanted: number): number {
  const line = text.indexOf('\n', wanted);
  if (line >= 0 && line < wanted + LINE_SEARCH_CHARACTERS) return line + 1;
  const place = afterEscape(text, wanted);
  const unit = text.charCodeAt(place);
  return unit >= 0xdc00 && unit <= 0xdfff ? place + 1 : place;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of them
const ESCAPE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])/y;

/** The place after the escape sequence that contains this place, if any. */
function afterEscape(text: string, place: number): number {
  const begin = text.lastIndexOf('\x1b', place - 1);
  if (begin < 0 || begin < place - ESCAPE_SEARCH_CHARACTERS) return place;
  ESCAPE.lastIndex = begin;
  const [sequence = ''] = ESCAPE.exec(text) ?? [];
  return Math.max(place, begin + sequence.length);
}

function textOf(part: TerminalContentPart): string {
  if (part.type === 'unclassified') return part.value;
  return part.type === 'command' ? part.output : '';
}

function withText(part: TerminalContentPart, text: string): TerminalContentPart {
  return part.type === 'command' ? { ...part, output: text } : { ...part, value: text };
}

/** V8 stores a string that grew by small appends as a tree of many times its size. Reading a character flattens it. */
function makeOnePiece(part: TerminalContentPart | undefined, added: number): void {
  // Large writes make few nodes, and copying the whole string for each of them would dominate the cost.
  if (added > SMALL_WRITE_MAX_CHARACTERS) return;
  const text = part ? textOf(part) : '';
  const before = Math.floor((text.length - added) / SCROLLBACK_PIECE_CHARACTERS);
  if (Math.floor(text.length / SCROLLBACK_PIECE_CHARACTERS) > before) text.charCodeAt(0);
}
