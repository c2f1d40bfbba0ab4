/** The web page, and the short answers of a host without one. */
import { createReadStream } from 'node:fs';
import { access, readdir, readFile, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { chosenEncoding, ENCODED_FILES, type Encoding } from '@atrium/core/wire/transports/encodings.js';
import { FRAME_HEADERS, PAGE_HEADERS, SECURITY_HEADERS } from './security-headers.js';

const PAGE = `This is Atrium, a host for AI coding agents.
Connect with a WebSocket client that speaks the Agent Host Protocol. There is nothing else to see here yet.
`;
export const COMMON_HEADERS = { 'Cache-Control': 'no-store', ...SECURITY_HEADERS };
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
};
const FRAME_FOLDER = '/diagram/';
/** Built files have a content hash in their names. */
const HASHED = /-[\w-]{8,}\.\w+$/;

export interface StaticFiles {
  answer(request: IncomingMessage, response: ServerResponse): void;
}

export interface PageOptions {
  /**
   * Whether other machines can connect without encryption. The page shows it on every screen, even before it is
   * connected.
   */
  readonly isInsecure?: boolean;
}

interface StoredFile {
  readonly file: string;
  readonly bytes: number;
  /** Served instead of the content of the file. */
  readonly text?: Buffer;
}

/** The page looks for this element in its own document before it connects. */
const INSECURE_MARK = '<meta name="atrium-insecure-remote" content="true" />';

interface StaticFile extends StoredFile {
  readonly encoded: ReadonlyMap<Encoding, StoredFile>;
}

/**
 * Lists the files once, when a browser first asks, and serves nothing else: a request can name a file, but not a path.
 * Browsers that accept it get the compressed copy that was built with the page. Rejects if the folder does not exist.
 */
export async function staticFiles(folder: string, options: PageOptions = {}): Promise<StaticFiles> {
  await access(folder);
  let listed: Promise<ReadonlyMap<string, StaticFile>> | undefined;
  return {
    answer: (request, response) => {
      listed ??= listFiles(folder, options);
      listed.then(
        (files) => answer(files, request, response),
        () => {
          listed = undefined;
          answerNothing(response, 503);
        },
      );
    },
  };
}

async function listFiles(
  folder: string,
  { isInsecure = false }: PageOptions,
): Promise<ReadonlyMap<string, StaticFile>> {
  const stored = await storedFiles(folder);
  const files = new Map<string, StaticFile>();
  for (const [url, file] of stored) {
    if (!isCopy(url, stored)) files.set(url, { ...file, encoded: copiesOf(url, stored) });
  }
  const plain = files.get('/index.html');
  const index = plain && isInsecure ? await marked(plain) : plain;
  if (index) for (const url of ['/', '/index.html']) files.set(url, index);
  return files;
}

/** The compressed copies lack the mark, so the marked document, which is short, goes uncompressed. */
async function marked({ file }: StaticFile): Promise<StaticFile> {
  const text = Buffer.from((await readFile(file, 'utf8')).replace('<head>', `<head>${INSECURE_MARK}`));
  return { file, bytes: text.length, text, encoded: new Map() };
}

async function storedFiles(folder: string): Promise<ReadonlyMap<string, StoredFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, StoredFile>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const url = `/${path.relative(folder, file).split(path.sep).join('/')}`;
    files.set(url, { file, bytes: (await stat(file)).size });
  }
  return files;
}

/** A compressed copy is an encoding of its file, and cannot be requested by itself. */
function isCopy(url: string, stored: ReadonlyMap<string, StoredFile>): boolean {
  return ENCODED_FILES.some(([, ending]) => url.endsWith(ending) && stored.has(url.slice(0, -ending.length)));
}

function copiesOf(url: string, stored: ReadonlyMap<string, StoredFile>): ReadonlyMap<Encoding, StoredFile> {
  const copies = ENCODED_FILES.flatMap(([encoding, ending]) => {
    const copy = stored.get(url + ending);
    return copy ? [[encoding, copy] as const] : [];
  });
  return new Map(copies);
}

function answer(files: ReadonlyMap<string, StaticFile>, request: IncomingMessage, response: ServerResponse): void {
  const name = request.url?.split('?')[0] ?? '/';
  const found = files.get(name);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!found || !isRead) return answerNothing(response, 404);
  const encoding = chosenEncoding(acceptedEncodings(request), [...found.encoded.keys()]);
  const { file, bytes, text }: StoredFile = (encoding && found.encoded.get(encoding)) ?? found;
  response.writeHead(200, {
    ...(name.startsWith(FRAME_FOLDER) ? FRAME_HEADERS : PAGE_HEADERS),
    'Content-Type': TYPES[path.extname(found.file)] ?? 'application/octet-stream',
    'Content-Length': bytes,
    'Cache-Control': HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'no-store',
    ...(found.encoded.size > 0 && { Vary: 'Accept-Encoding' }),
    ...(encoding && { 'Content-Encoding': encoding }),
  });
  if (request.method === 'HEAD') return void response.end();
  if (text) return void response.end(text);
  createReadStream(file)
    .on('error', () => response.destroy())
    .pipe(response);
}

function acceptedEncodings({ headers }: IncomingMessage): string | undefined {
  const header = headers['accept-encoding'];
  return Array.isArray(header) ? header.join(',') : header;
}

/** Answers a request that is not an upgrade. */
export function answerPage(request: IncomingMessage, response: ServerResponse): void {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead || request.url?.split('?')[0] !== '/') return answerNothing(response, 404);
  response.writeHead(200, { ...COMMON_HEADERS, 'Content-Type': 'text/plain; charset=utf-8' }).end(PAGE);
}

/** Closes the connection with the answer, so that the peer cannot keep sending a body. */
export function answerNothing(response: ServerResponse, status: number): void {
  response.writeHead(status, { ...COMMON_HEADERS, Connection: 'close', 'Content-Length': 0 }).end();
}
