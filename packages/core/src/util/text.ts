/** How tools look at and show text. */

/** As far as a file is looked at to tell text from anything else. */
export const BINARY_CHECK_BYTES = 8_000;

/** A zero byte near the beginning is what Git, too, takes for the mark of a file that is not text. */
export function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, BINARY_CHECK_BYTES).includes(0);
}

/** Names the stored result of a tool call, where a path is asked for. */
export const RESULT_SCHEME = 'tool-result:';
/** A longer line of a result counts as several: reading by lines must get anywhere in it. */
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

/** The beginning of a text, without half a character at its end. */
export function beginning(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : text.slice(0, wholeEnd(text, maxCharacters));
}

/** Characters beyond the basic ones are two units long, and are not cut between them. */
function wholeEnd(text: string, end: number): number {
  const before = text.charCodeAt(end - 1);
  return before >= 0xd800 && before <= 0xdbff ? end - 1 : end;
}

/** One line, at most so long. */
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

/** The message of whatever was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
