/**
 * A place in a file as people and agents write it: `src/app.ts:12`, `/srv/app.ts:12:5`, `app.ts#L12`,
 * `file:///srv/app.ts#L12`.
 */

export interface FileReference {
  /** The file as written, without the place; a `file:` URI stays one. */
  readonly path: string;
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
}

/** Longer texts are not paths. */
export const FILE_REFERENCE_MAX_CHARACTERS = 400;
/** No file is assumed to have more lines, so that the numbers stay exact and short. */
export const FILE_LINE_MAX = 9_999_999;

const PLACE = /(?::(\d{1,7})(?:[:.](\d{1,7}))?(?:-\d{1,7})?|#L(\d{1,7})(?:C(\d{1,7}))?(?:-L?\d{1,7}(?:C\d{1,7})?)?)$/;
/** Only a drive letter and `file:` are schemes of files. */
const OTHER_SCHEME = /^(?!file:)[a-z][a-z0-9+.-]+:/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a path that has them is not meant
const NOT_IN_PATHS = /[\u0000-\u001f\u007f<>"|?*\u202a-\u202e\u2066-\u2069]/;

/** Reads a whole text as a place in a file; undefined when it cannot be one. */
export function readFileReference(text: string): FileReference | undefined {
  if (text === '' || text.length > FILE_REFERENCE_MAX_CHARACTERS || NOT_IN_PATHS.test(text)) return undefined;
  const place = PLACE.exec(text);
  const path = place ? text.slice(0, place.index) : text;
  if (path === '' || path.startsWith('//') || path.startsWith('#') || OTHER_SCHEME.test(path)) return undefined;
  const line = numberOf(place?.[1] ?? place?.[3]);
  const column = numberOf(place?.[2] ?? place?.[4]);
  return { path, ...(line !== undefined && { line }), ...(line !== undefined && column !== undefined && { column }) };
}

function numberOf(digits: string | undefined): number | undefined {
  const value = Number(digits);
  return digits === undefined || value < 1 ? undefined : Math.min(FILE_LINE_MAX, value);
}

/** `example.com:443` is not a file; names with these endings are. */
const ENDINGS =
  'astro|bash|c|cc|cfg|cjs|clj|conf|cpp|cs|css|csv|cts|dart|diff|el|erl|ex|exs|fish|fs|go|gradle|graphql|h|hpp|hs|html|ini|' +
  'ipynb|java|jl|js|json|json5|jsonc|jsx|kt|kts|less|log|lua|md|mdx|mjs|ml|mts|nix|patch|php|pl|proto|ps1|py|pyi|r|rb|rs|' +
  'rst|scala|scss|sh|sol|sql|svelte|swift|tf|toml|ts|tsx|txt|vue|xml|yaml|yml|zig|zsh';
const SEGMENT = '[\\w.@+~()[\\]-]+';
const NAMED_PLACE = `(?:~?/|\\.{1,2}/)?(?:${SEGMENT}/)*[\\w.@+-]+\\.(?:${ENDINGS}):\\d{1,7}(?::\\d{1,7})?(?!\\w)`;

/** Finds places in prose: a name with an ending of source code, and a line. */
export const FILE_PLACE_IN_TEXT = new RegExp(`(?<![\\w/:.@-])${NAMED_PLACE}`, 'i');

const WHOLE = new RegExp(`^(?:${NAMED_PLACE}|(?:~?/|\\.{1,2}/)?(?:${SEGMENT}/)+[\\w.@+-]+\\.(?:${ENDINGS}))$`, 'i');

/** Code in a sentence that names a file: with a line, or with a folder and an ending of source code. */
export function isFileName(code: string): boolean {
  return code.length <= FILE_REFERENCE_MAX_CHARACTERS && WHOLE.test(code);
}

const FILE_URI = /^file:\/\/(?=\/)/i;

/** The URI that a reference names, relative to a folder; undefined when that cannot be determined. */
export function fileReferenceUri(path: string, folder: string | undefined): string | undefined {
  if (/^file:/i.test(path)) return FILE_URI.test(path) ? fileUri(path.replace(FILE_URI, '')) : undefined;
  const slashed = path.replaceAll('\\', '/');
  const rooted = /^[a-z]:\//i.test(slashed) ? `/${slashed}` : slashed;
  if (rooted.startsWith('~')) return undefined;
  if (rooted.startsWith('/')) return fileUri(encodedPath(rooted));
  if (folder === undefined || !FILE_URI.test(folder)) return undefined;
  return fileUri(`${folder.replace(FILE_URI, '')}/${encodedPath(rooted)}`);
}

/** A file URI without `.`, `..` and empty parts. */
function fileUri(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `file:///${parts.join('/')}`;
}

/** Encodes what a URI cannot contain; a `%` that is already part of an escape stays. */
function encodedPath(path: string): string {
  return encodeURI(path.replace(/%(?![\da-f]{2})/gi, '%25'))
    .replace(/%25(?=[\da-f]{2})/gi, '%')
    .replace(/[?#]/g, encodeURIComponent);
}
