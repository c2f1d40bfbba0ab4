/** From a `file:` URI to a path on this machine, or why there is none. Nothing is looked at: this is about text alone. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PATH_MAX_NAMES, URI_MAX_CHARACTERS } from './limits.js';

export type FilePath = { readonly path: string } | { readonly problem: string };

const PATH_MAX_BYTES = 4_096;
const NAME_MAX_BYTES = 255;
/** Names that Windows reads as something else: devices, short names, parts of a file, names with dropped ends. */
const WINDOWS_TRAPS = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|~\d|[:*?"<>|]|[. ]$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\x00-\x1f\x7f]/;

export function filePathOf(uri: string): FilePath {
  if (uri.length > URI_MAX_CHARACTERS) return { problem: 'the URI is too long' };
  if (!/^file:\//i.test(uri)) return { problem: 'only files of this host, as file: URIs, can be had here' };
  if (/[?#\\]/.test(uri) || CONTROL.test(uri)) {
    return { problem: 'a file: URI has no query, fragment, backslash or control character' };
  }
  const decoded = decode(uri);
  return decoded === undefined ? { problem: 'this is no path of this machine' } : checked(decoded);
}

/** Dots are resolved by the parser, also encoded ones; encoded slashes and other hosts make it fail. */
function decode(uri: string): string | undefined {
  try {
    const url = new URL(uri);
    return url.host === '' ? fileURLToPath(url) : undefined;
  } catch {
    return undefined;
  }
}

function checked(decoded: string): FilePath {
  if (decoded.includes('\0')) return { problem: 'a path cannot contain a zero byte' };
  const file = path.resolve(decoded);
  const names = file.split(path.sep);
  const isLong = Buffer.byteLength(file) > PATH_MAX_BYTES || names.length > PATH_MAX_NAMES;
  if (isLong || names.some((name) => Buffer.byteLength(name) > NAME_MAX_BYTES)) {
    return { problem: 'the path, or a name in it, is too long' };
  }
  const isTrap = process.platform === 'win32' && names.slice(1).some((name) => WINDOWS_TRAPS.test(name));
  return isTrap ? { problem: 'the path has a name that Windows reads as something else' } : { path: file };
}
