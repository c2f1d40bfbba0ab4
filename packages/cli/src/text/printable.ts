/**
 * Makes text from outside safe for a terminal: nothing in it moves the cursor, sets colours or writes to the clipboard.
 * Spells
 * out invisible characters instead of dropping them, so that people see everything that they say yes to.
 */
import { type VisibleTextMode, visibleSegments, visibleText } from '@atrium/protocol/ahp-1';
import { PLAIN, type Style } from './style.js';

const TAB = '    ';

/**
 * Keeps line breaks and spells out all other invisible characters, except other blanks, which are ordinary in prose.
 */
export function printableLines(text: string): string {
  return joined(text.replace(/\r\n/g, '\n').replace(/\p{Zs}/gu, ' '), 'lines').replace(/\t/g, TAB);
}

/** The same for text that has to stay on one line: line breaks become blanks. */
export function printable(text: string): string {
  return joined(
    text
      .replace(/\s*\n\s*/g, ' ')
      .replace(/\t/g, TAB)
      .replace(/\p{Zs}/gu, ' '),
    'line',
  );
}

function joined(text: string, mode: VisibleTextMode): string {
  return visibleSegments(text, mode)
    .map((segment) => segment.text)
    .join('');
}

/** Whole sequences for colours, movement, titles and links, which only make sense on the program's own screen. */
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it matches sequences with escape and bell
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|[()][A-Z0-9]|[=>78])/g;

/** For output of programs: removes colours, and lets carriage returns begin lines. Not for text in a question. */
export function printableOutput(text: string): string {
  return printableLines(text.replace(SEQUENCES, '').replace(/\r\n?/g, '\n'));
}

/** The most columns that a character can take: terminals disagree about emoji, marks and letters of other scripts. */
const WIDEST = 2;
/** A row ends between words, unless that would leave more than this empty. */
const WORD_MAX_CHARACTERS = 20;

/**
 * One line of text as rows for a question: cuts nothing, and makes no row too wide for any terminal. Spelled out
 * characters are
 * inverse. Without colours, a backslash that could look like one is doubled, unless the text is prose for people, which
 * spells
 * out such characters itself.
 */
export function shownRows(line: string, columns: number, style: Style, isProse = false): string[] {
  // A line break inside a single line, such as the name of a file, must not begin a new line.
  const mode = line.includes('\n') ? 'line' : 'lines';
  const isDoubled = style === PLAIN && !isProse;
  const segments = isDoubled ? [{ text: visibleText(line, mode), marked: false }] : visibleSegments(line, mode);
  const room = Math.max(WIDEST, columns);
  const rows: string[] = [''];
  let used = 0;
  for (const { text, marked } of segments) {
    const styled = marked ? style.inverse : PLAIN.inverse;
    let part = '';
    for (const character of text.replace(/\t/g, TAB)) {
      if (used + sizeOf(character) > room) {
        const end = marked ? 0 : part.lastIndexOf(' ') + 1;
        const rest = end > 0 && part.length - end <= WORD_MAX_CHARACTERS ? part.slice(end) : '';
        rows[rows.length - 1] += styled(part.slice(0, part.length - rest.length));
        rows.push('');
        part = rest;
        used = [...rest].reduce((sum, each) => sum + sizeOf(each), 0);
      }
      part += character;
      used += sizeOf(character);
    }
    rows[rows.length - 1] += styled(part);
  }
  return rows;
}

function sizeOf(character: string): number {
  return character <= '~' ? 1 : WIDEST;
}
