/**
 * Helpers for text: telling binary from text, cutting lines and long texts, formatting numbers and errors, and
 * suggesting the word that was meant.
 */

/** How many bytes of a file are examined to tell text from binary. */
export const BINARY_CHECK_BYTES = 8_000;

/** True when there is a zero byte near the beginning, which Git, too, takes as the sign of a binary file. */
export function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, BINARY_CHECK_BYTES).includes(0);
}

/** Scheme that names the stored result of a tool call, where a path is expected. */
export const RESULT_SCHEME = 'tool-result:';
/** A longer line of a result counts as several, so that reading by lines can reach every part of it. */
export const RESULT_LINE_MAX_CHARACTERS = 500;

/** A line without its end, or a part of a long one: where it begins and ends in the text. */
export interface LinePiece {
  readonly start: number;
  readonly end: number;
}

export function linePieces(text: string): LinePiece[] {
  const pieces: LinePiece[] = [];
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start);
    const lineEnd = newline < 0 ? text.length : newline;
    const end =
      lineEnd - start <= RESULT_LINE_MAX_CHARACTERS ? lineEnd : wholeEnd(text, start + RESULT_LINE_MAX_CHARACTERS);
    if (end > start || newline >= 0) pieces.push({ start, end });
    start = end === lineEnd ? lineEnd + 1 : end;
  }
  return pieces;
}

/** The beginning of a text, without a split character at its end. */
export function beginning(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : text.slice(0, wholeEnd(text, maxCharacters));
}

/** The end of a text, without a split character at its beginning. */
export function ending(text: string, maxCharacters: number): string {
  const start = Math.max(0, text.length - maxCharacters);
  const first = text.charCodeAt(start);
  return text.slice(start > 0 && first >= 0xdc00 && first <= 0xdfff ? start + 1 : start);
}

/** Moves the end so that it splits no surrogate pair. */
function wholeEnd(text: string, end: number): number {
  const before = text.charCodeAt(end - 1);
  return before >= 0xd800 && before <= 0xdbff ? end - 1 : end;
}

/** A text as one line of limited length. */
export function shorten(text: string, maxCharacters: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= maxCharacters ? line : `${line.slice(0, maxCharacters - 1)}…`;
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1 byte`, `812 bytes`, `1.5 KiB`. */
export function sizeText(bytes: number): string {
  if (bytes === 1) return '1 byte';
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(1).replace(/\.0$/, '')} ${UNITS[power]}`;
}

/** `1 file`, `2 files`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}

/** The message of anything that was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The beginning of a text, in its own memory. A plain slice would keep the whole long text in memory, so use this for
 * anything that is kept for long.
 */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return Buffer.from(text.slice(0, maxCharacters), 'utf16le').toString('utf16le');
}

/** Longer words are not compared: a sentence is no typing mistake, and comparing costs the product of both lengths. */
const WORD_MAX_CHARACTERS = 40;
/** One mistake per this many characters is still a typing mistake; with more, it is another word. */
const CHARACTERS_PER_MISTAKE = 3;

/** The known word most similar to a mistyped one. */
export function suggestion(word: string, known: readonly string[]): string | undefined {
  if (word.length > WORD_MAX_CHARACTERS) return undefined;
  const allowed = Math.ceil(word.length / CHARACTERS_PER_MISTAKE);
  const near = known
    .map((candidate) => ({ candidate, mistakes: mistakesBetween(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ mistakes }) => mistakes <= allowed)
    .sort((a, b) => a.mistakes - b.mistakes);
  return near[0]?.candidate;
}

export function didYouMean(word: string, known: readonly string[]): string {
  const near = suggestion(word, known);
  return near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
}

/** How many letters must be inserted, removed or changed. One row of the table is enough. */
function mistakesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
