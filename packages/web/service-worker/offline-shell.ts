/**
 * The frame of the page, kept for when the host cannot be reached: its document, the script and the styles that it begins with. The
 * page then says that it is offline. Nothing else is ever kept here: no answer of the host, no session, no token. The host is always
 * asked first for the document, so that a new version is seen at once.
 */

/** Written in by the build: which files, and a name that changes with them. */
declare const SHELL: { readonly version: string; readonly files: readonly string[] };

const { version, files } = SHELL;
const PREFIX = 'atrium-shell-';
const CACHE = `${PREFIX}${version}`;
const DOCUMENT = '/';

export async function keepShell(): Promise<void> {
  const cache = await caches.open(CACHE);
  // Without cookies: what is kept is the same for everybody. Only the document changes under its name; the others are in the
  // browser's cache already, and are not fetched a second time.
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

/** Never of another version: names of files change with what is in them. */
async function kept(path: string): Promise<Response | undefined> {
  return (await caches.open(CACHE)).match(path);
}
