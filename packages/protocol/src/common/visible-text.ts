/**
 * Untrusted text in a form that a person can judge: characters that are invisible, act on a display or reorder it are
 * spelled out.
 * Page, terminal and host all use this function to show what will run before a person approves it, so that none of them
 * shows less than what runs. The display decides about the order of right-to-left letters.
 */

export interface VisibleSegment {
  readonly text: string;
  /** The text represents a character that cannot be seen, such as `\x1b` or `\u{202e}`. */
  readonly marked: boolean;
}

/**
 * Which characters may stay. `lines`: also line breaks and tabs, for text shown on several lines. `line`: neither, so
 * that a name cannot begin a line of its own.
 */
export type VisibleTextMode = 'line' | 'lines';

/** More combining marks than this on one letter would cover the text around it. */
export const COMBINING_MARKS_MAX = 4;

/**
 * Controls, formats, surrogates, private and unassigned characters (C), those that displays leave out, separators,
 * blanks other than the plain space, and a few letters and signs with an empty glyph.
 */
const UNSEEN =
  '\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}[\\p{Zs}--[ ]]' +
  '\\u2800\\u2d7f\\ufffc\\u{1107f}\\u{13441}\\u{13442}\\u{16fe4}\\u{1d159}';
/** Emoji may contain joiners and selectors; a letter may have a few marks, a Latin one only those made for it. */
const SEEN = [
  '\\p{RGI_Emoji}',
  `[a-zA-Z][[\\u0300-\\u036f]--[${UNSEEN}]]{1,${COMBINING_MARKS_MAX}}`,
  `[[\\p{L}\\p{N}]--[\\0-\\x7f]--[${UNSEEN}]][\\p{M}--[${UNSEEN}]]{1,${COMBINING_MARKS_MAX}}`,
].join('|');

/** Text of only these characters is visible as it is. */
const PLAIN = /^[ -~]*$/;

// The flag v (sets of characters, emoji) is newer than the compiler's target, so it can only be passed at run time.
const patterns = once(() => ({
  suspect: new RegExp(`[${UNSEEN}\\p{M}]`, 'v'),
  pieces: new RegExp(`${SEEN}|(?<unseen>[${UNSEEN}\\p{M}])`, 'gv'),
}));

/**
 * Delays compiling the patterns, which takes 25 ms: a program that shows no such text need not pay for it at its start.
 */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const KEPT: Readonly<Record<VisibleTextMode, string>> = { line: '', lines: '\n\t' };
const SHORT: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** The text in pieces, for displays that can highlight marked ones. If nothing is marked, it is the text itself. */
export function visibleSegments(text: string, mode: VisibleTextMode): VisibleSegment[] {
  const segments: VisibleSegment[] = [];
  const add = (piece: string, marked: boolean) => {
    const last = segments.at(-1);
    if (piece === '') return;
    if (last?.marked === marked) segments[segments.length - 1] = { text: last.text + piece, marked };
    else segments.push({ text: piece, marked });
  };
  if (PLAIN.test(text) || !patterns().suspect.test(text)) {
    add(text, false);
    return segments;
  }
  let from = 0;
  for (const { index, 0: piece, groups } of text.matchAll(patterns().pieces)) {
    if (groups?.unseen === undefined || KEPT[mode].includes(piece)) continue;
    add(text.slice(from, index), false);
    add(spelled(piece), true);
    from = index + piece.length;
  }
  add(text.slice(from), false);
  return segments;
}

/**
 * The same as one string, for displays without styles. A backslash that would read as the beginning of a mark is
 * doubled, to tell a mark from the same characters in the text.
 */
export function visibleText(text: string, mode: VisibleTextMode): string {
  const segments = visibleSegments(text, mode);
  return segments
    .map((segment, index) => (segment.marked ? segment.text : doubled(segment.text, mode, index < segments.length - 1)))
    .join('');
}

/** True when everything in the text is visible as it is. */
export function isVisible(text: string, mode: VisibleTextMode): boolean {
  return !visibleSegments(text, mode).some(({ marked }) => marked);
}

function spelled(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return SHORT.get(character) ?? (code <= 0xff ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`);
}

/** The forms of a mark after its backslash; a backslash before another one is doubled as well. */
const MARK_LIKE: Readonly<Record<VisibleTextMode, RegExp>> = {
  line: /\\(?=[\\nrt]|x[\da-f]{2}|u\{)/g,
  lines: /\\(?=[\\r]|x[\da-f]{2}|u\{)/g,
};

function doubled(text: string, mode: VisibleTextMode, isBeforeMark: boolean): string {
  const safe = text.replace(MARK_LIKE[mode], '\\\\');
  return isBeforeMark && text.endsWith('\\') ? `${safe}\\` : safe;
}
