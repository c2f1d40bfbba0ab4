/**
 * Text from outside on a terminal: nothing in it moves the cursor, sets colours or writes to the clipboard. Invisible
 * characters are spelled out and never left out, so that a person sees everything that they say yes to.
 */
import { type VisibleTextMode, visibleSegments, visibleText } from '@atrium/protocol/ahp-1';
import { PLAIN, type Style } from './style.js';

const TAB = '    ';

/** Keeps line breaks; everything else that cannot be seen is spelled out. Blanks of other kinds are ordinary in prose. */
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

/** Whole sequences for colours, movement, titles and links. What they act on is a screen that this is not. */
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape and bell are what it is about
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|[()][A-Z0-9]|[=>78])/g;

/** What a program wrote: its colours are left out, its carriage returns begin lines. No question shows it. */
export function printableOutput(text: string): string {
  return printableLines(text.replace(SEQUENCES, '').replace(/\r\n?/g, '\n'));
}

/** The room that a character takes at most: terminals disagree about pictures, marks and letters of other scripts. */
const WIDEST = 2;
/** A row ends between words, unless that would leave more than this empty. */
const WORD_MAX_CHARACTERS = 20;

/**
 * One line of text as rows for a question: nothing is cut, and no row is wider than it may be on any terminal. What is
 * spelled out is inverse; without colours, a backslash that could be taken for such a mark is doubled, unless the text
 * was written for people and spells out such things itself.
 */
export function shownRows(line: string, columns: number, style: Style, isProse = false): string[] {
  // A line break in what should be one line, such as the name of a file, must not become one.
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
