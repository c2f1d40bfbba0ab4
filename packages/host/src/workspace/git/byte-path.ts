/**
 * Paths of files as Git and the file system know them: bytes that are not always text. They are strings with one
 * character per byte, relative to the session's folder, with forward slashes.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export type BytePath = string;

const UNRESERVED = /[A-Za-z0-9\-._~/]/;

export function fromText(text: string): BytePath {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Undefined when the bytes are no UTF-8. */
export function asText(bytes: BytePath): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return undefined;
  }
}

/** For people: what is no text shows as question marks. */
export function shownPath(bytes: BytePath): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

export function onDisk(root: string, bytes: BytePath): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(bytes, 'latin1')]);
}

export function fileUri(root: string, bytes: BytePath): string {
  const text = asText(bytes);
  if (text !== undefined) return pathToFileURL(path.join(root, text)).href;
  return `${pathToFileURL(root).href.replace(/\/$/, '')}/${percentEncoded(bytes)}`;
}

/** Every byte that is not a letter, a digit or one of `-._~/` as `%XX`. */
export function percentEncoded(bytes: BytePath): string {
  return [...bytes].map((byte) => (UNRESERVED.test(byte) ? byte : `%${hex(byte)}`)).join('');
}

export function percentDecoded(text: string): BytePath {
  return text.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** The folders that a path is in, innermost first: `a/b` and `a` for `a/b/c`. */
export function foldersOf(bytes: BytePath): BytePath[] {
  const end = bytes.lastIndexOf('/');
  return end < 0 ? [] : [bytes.slice(0, end), ...foldersOf(bytes.slice(0, end))];
}

function hex(byte: string): string {
  return byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
}
