/**
 * Paths of files as Git and the file system know them: bytes that are not always text. They are strings with one
 * character per byte, relative to a folder, with forward slashes. In the changes of a session, a path without a folder
 * is in the first folder of the session; for a file in another folder, the path begins with that folder and two
 * slashes.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export type BytePath = string;

const UNRESERVED = /[A-Za-z0-9\-._~/]/;

export function fromText(text: string): BytePath {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Undefined when the bytes are not valid UTF-8. */
export function asText(bytes: BytePath): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return undefined;
  }
}

/** For people: bytes that are not text appear as replacement characters. */
export function shownPath(bytes: BytePath): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

export function onDisk(root: string, bytes: BytePath): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(bytes, 'latin1')]);
}

/** Separates a folder from a path in it. Neither contains two slashes in a row. */
const IN_FOLDER = '//';

/** The path of a file in a further folder of a session. */
export function inFolder(folder: string, bytes: BytePath): BytePath {
  return `${fromText(folder)}${IN_FOLDER}${bytes}`;
}

/** The folder of a path, and the path in it. `first` is the first folder of the session. */
export function located(first: string, bytes: BytePath): { readonly root: string; readonly path: BytePath } {
  const at = bytes.indexOf(IN_FOLDER);
  if (at < 0) return { root: first, path: bytes };
  return { root: shownPath(bytes.slice(0, at)), path: bytes.slice(at + IN_FOLDER.length) };
}

export function fileUri(first: string, bytes: BytePath): string {
  const { root, path: inside } = located(first, bytes);
  const text = asText(inside);
  if (text !== undefined) return pathToFileURL(path.join(root, text)).href;
  return `${pathToFileURL(root).href.replace(/\/$/, '')}/${percentEncoded(inside)}`;
}

/** Writes every byte that is not a letter, a digit or one of `-._~/` as `%XX`. */
export function percentEncoded(bytes: BytePath): string {
  return [...bytes].map((byte) => (UNRESERVED.test(byte) ? byte : `%${hex(byte)}`)).join('');
}

export function percentDecoded(text: string): BytePath {
  return text.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** The folders that contain a path, innermost first: `a/b` and `a` for `a/b/c`. */
export function foldersOf(bytes: BytePath): BytePath[] {
  const end = bytes.lastIndexOf('/');
  return end < 0 ? [] : [bytes.slice(0, end), ...foldersOf(bytes.slice(0, end))];
}

function hex(byte: string): string {
  return byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
}
