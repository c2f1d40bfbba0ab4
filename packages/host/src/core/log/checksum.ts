/**
 * Checksums of stored text. SQLite notices a damaged structure, but not a flipped bit inside a text: that would be read,
 * and shown, as if it had been said. CRC-32 finds such damage for certain when it is short, and misses one in four
 * billion otherwise. It is no protection against people, who could change it with the text; a cryptographic hash costs
 * five times as much for a short text and would not be one either.
 */
import { crc32 } from 'node:zlib';

/**
 * The sum of a text that stands at a place: a text that is found elsewhere does not fit, either. A place counts up to its
 * first NUL, for `node:sqlite` reads an id no further. JSON, which all texts are, has none.
 */
export function sumOf(place: string, text: string): number {
  const end = place.indexOf('\0');
  return crc32(text, crc32(end < 0 ? place : place.slice(0, end)));
}

/** Texts of earlier versions have no sum, and are believed. */
export function fits(sum: number | null, place: string, text: string): boolean {
  return sum === null || sum === sumOf(place, text);
}
