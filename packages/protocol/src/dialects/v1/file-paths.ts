/** File URIs and the plain paths that version 1 uses instead. Undefined means: there is no such form. */

const FILE_SCHEME = 'file://';

export function pathFromFileUri(uri: string): string | undefined {
  if (!uri.startsWith(FILE_SCHEME)) return undefined;
  const path = attempt(decodeURIComponent, uri.slice(FILE_SCHEME.length));
  if (path === undefined) return undefined;
  const isLocal = path.startsWith('/');
  return isLocal ? path.replace(/^\/(?=[A-Za-z]:)/, '') : `//${path}`;
}

export function fileUriFromPath(path: string): string | undefined {
  if (path.startsWith(FILE_SCHEME)) return path;
  const slashed = /^([A-Za-z]:)?\\/.test(path) ? path.replaceAll('\\', '/') : path;
  const encoded = attempt(encodeSegments, slashed);
  if (encoded === undefined) return undefined;
  if (encoded.startsWith('//')) return `file:${encoded}`;
  return `${FILE_SCHEME}${encoded.startsWith('/') ? '' : '/'}${encoded}`;
}

export function baseName(path: string): string {
  const parts = path.split(/[\\/]/).filter((part) => part !== '');
  return parts.at(-1) ?? path;
}

function encodeSegments(path: string): string {
  const segments = path.split('/').map((segment) => encodeURIComponent(segment));
  return segments.join('/').replace(/^(\/?[A-Za-z])%3A/, '$1:');
}

/** Percent coding throws on what it cannot read or write. */
function attempt(recode: (text: string) => string, text: string): string | undefined {
  try {
    return recode(text);
  } catch {
    return undefined;
  }
}
