/** How tools look at and show text. */

/** As far as a file is looked at to tell text from anything else. */
export const BINARY_CHECK_BYTES = 8_000;

/** A zero byte near the beginning is what Git, too, takes for the mark of a file that is not text. */
export function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, BINARY_CHECK_BYTES).includes(0);
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
