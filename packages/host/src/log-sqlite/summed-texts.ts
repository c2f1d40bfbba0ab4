/**
 * Reads many rows of text with their checksums as one value. One row at a time costs two to three times as much: the
 * drivers make an object of every row, and libsql a buffer of every text.
 */
import { isAscii } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { fits } from './damage.js';

const NEWLINE = 10;

export interface SummedText {
  /** The row id. */
  readonly row: number;
  readonly key: string;
  readonly text: string;
  /** Whether the text is exactly what was stored under this key. */
  readonly isWhole: boolean;
}

/** Damage can turn a sum into anything: a value that is not an integer becomes -1, which matches no text. */
const SUM = `CASE typeof(sum) WHEN 'integer' THEN sum WHEN 'null' THEN 'null' ELSE -1 END`;

/**
 * The SQL for `bytes` of a statement. The rows must have the columns `row`, `key`, `text` and `sum`, in the wanted
 * order.
 */
export function selectTexts(rows: string): string {
  const numbers = ['row', 'octet_length(key)', 'octet_length(text)', SUM].join(` || ',' || `);
  return `SELECT CAST(group_concat(${numbers}) || char(${NEWLINE}) || group_concat(key || text, '') AS BLOB) AS bytes
    FROM (SELECT row, coalesce(key, '') AS key, coalesce(text, '') AS text, sum FROM (${rows}))`;
}

/**
 * The SQL for `bytes` whose result `joinedIn` joins into one text. The rows must have the columns `key`, `text` and
 * `sum`.
 */
export function selectJoined(rows: string): string {
  const numbers = ['octet_length(key)', 'octet_length(text)', SUM].join(` || ',' || `);
  return `SELECT CAST(group_concat(${numbers}) || char(${NEWLINE}) || group_concat(key, '') || group_concat(text, ',') AS BLOB) AS bytes
    FROM (${rows})`;
}

/**
 * All texts, joined with commas, in their stored bytes. Undefined when any of them may differ from what was stored; it
 * may not even be UTF-8.
 */
export function joinedIn(bytes: Buffer): Buffer | undefined {
  const newline = bytes.indexOf(NEWLINE);
  const numbers = JSON.parse(`[${bytes.toString('latin1', 0, newline)}]`) as (number | null)[];
  let key = newline + 1;
  let text = key;
  for (let at = 0; at < numbers.length; at += 3) text += numbers[at] ?? 0;
  const start = text;
  for (let at = 0; at < numbers.length; at += 3) {
    const keyBytes = numbers[at] ?? 0;
    const textBytes = numbers[at + 1] ?? 0;
    const keySum = crc32(view(bytes, key, keyBytes));
    if (crc32(view(bytes, text, textBytes), keySum) !== numbers[at + 2]) return undefined;
    key += keyBytes;
    text += textBytes + 1;
  }
  return bytes.subarray(start);
}

/** Costs half as much as `subarray`, which makes a Buffer. */
function view({ buffer, byteOffset }: Buffer, start: number, length: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset + start, length);
}

/** Splits the value: the first line has four numbers for each row; the keys and texts follow it. */
export function textsIn(bytes: Buffer): SummedText[] {
  const texts: SummedText[] = [];
  const newline = bytes.indexOf(NEWLINE);
  if (newline < 0) return texts;
  const decode = decoderOf(bytes);
  const numbers = JSON.parse(`[${decode(0, newline)}]`) as number[];
  let start = newline + 1;
  for (let at = 0; at < numbers.length; at += 4) {
    const sum = numbers[at + 3] ?? null;
    const middle = start + (numbers[at + 1] ?? 0);
    const end = middle + (numbers[at + 2] ?? 0);
    const key = decode(start, middle);
    const text = decode(middle, end);
    // The sum covers the bytes of key and text, except where a key contains a NUL: see `sumOf`.
    const isWhole = crc32(view(bytes, start, end - start)) === sum || fits(sum, key, text);
    texts.push({ row: numbers[at] ?? 0, key, text, isWhole });
    start = end;
  }
  return texts;
}

/** Of ASCII, all is decoded at once, and its pieces are slices of that one string. */
function decoderOf(bytes: Buffer): (start: number, end: number) => string {
  if (!isAscii(bytes)) return (start, end) => bytes.toString('utf8', start, end);
  const text = bytes.toString('latin1');
  return (start, end) => text.slice(start, end);
}
