/**
 * Caches the frame of the page for when the host is out of reach: its document, its first script and its styles. The
 * page then says
 * that it is offline. The cache never has anything else: no answer of the host, no session, no token. The worker always
 * asks the
 * host first for the document, so that a new version appears at once.
 */

/** The build inserts the list of files, and a version that changes with them. */
declare const SHELL: { readonly version: string; readonly files: readonly string[] };

const { version, files } = SHELL;
const PREFIX = 'atrium-shell-';
const CACHE = `${PREFIX}${version}`;
const DOCUMENT = '/';

export async function keepShell(): Promise<void> {
  const cache = await caches.open(CACHE);
  // Without cookies, because the cached files are the same for everybody. Only the document changes under its name; the
  // other
  // files are already in the browser's cache, so the browser does not fetch them again.
  const request = (file: string, cached: RequestCache) => new Request(file, { cache: cached, credentials: 'omit' });
  await cache.addAll([request(DOCUMENT, 'reload'), ...files.map((file) => request(file, 'default'))]);
}

export async function forgetOldShells(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(
    names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)),
  );
}

/** The answer to a request; undefined when the browser should ask by itself. */
export function fromShell(request: Request): Promise<Response> | undefined {
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return undefined;
  if (request.mode === 'navigate') return pathname === DOCUMENT ? documentFor(request) : undefined;
  return files.includes(pathname) ? kept(pathname).then((found) => found ?? fetch(request)) : undefined;
}

async function documentFor(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const found = await kept(DOCUMENT);
    if (!found) throw error;
    return found;
  }
}

/** Never returns a file of another version, because the names of files change with their content. */
async function kept(path: string): Promise<Response | undefined> {
  return (await caches.open(CACHE)).match(path);
}
