/** The web page, and the short answers of a host without one. */
import { createReadStream } from 'node:fs';
import { access, readdir, readFile, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
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

type Encoding = 'br' | 'gzip';

/** Files next to the original, made when the page is built; the smallest first. */
const ENCODED_FILES: readonly (readonly [Encoding, string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

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

/**
 * The available encoding that the header prefers; undefined for the original file. An encoding that the header does not
 * name is not sent, and a weight that is not a number between 0 and 1 counts as a refusal.
 */
export function chosenEncoding(header: string | undefined, available: readonly Encoding[]): Encoding | undefined {
  const weights = weightsOf(header ?? '');
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  let chosen: Encoding | undefined;
  // Every client can read the original file, but it is preferred only where the header says so.
  let best = weights.get('identity') ?? 0;
  for (const encoding of available) {
    const weight = weightOf(encoding);
    if (weight === 0 || weight < best || (weight === best && chosen)) continue;
    chosen = encoding;
    best = weight;
  }
  return chosen;
}

function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const entry of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
    if (name !== '') weights.set(name, weightOf(parameters));
  }
  return weights;
}

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

function weightOf(parameters: readonly string[]): number {
  if (parameters.length === 0) return 1;
  const weight = WEIGHT.exec(parameters.join(';'))?.[1];
  return weight === undefined ? 0 : Number(weight);
}
