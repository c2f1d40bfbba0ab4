/**
 * The files of the web page. Their names are read once, and nothing else is ever served: a request can name a file, but
 * not a path.
 */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { answerNothing } from './http-answers.js';

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

/** Everything comes from the host itself; what an agent or a provider wrote can run nothing and load nothing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Names of built files carry a hash of their content. */
const HASHED = /-[\w-]{8,}\.\w+$/;

export interface StaticFiles {
  answer(request: IncomingMessage, response: ServerResponse): void;
}

interface StaticFile {
  readonly file: string;
  readonly bytes: number;
}

export async function staticFiles(folder: string): Promise<StaticFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, StaticFile>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const url = `/${path.relative(folder, file).split(path.sep).join('/')}`;
    files.set(url, { file, bytes: (await stat(file)).size });
  }
  const index = files.get('/index.html');
  if (index) files.set('/', index);
  return { answer: (request, response) => answer(files, request, response) };
}

function answer(files: ReadonlyMap<string, StaticFile>, request: IncomingMessage, response: ServerResponse): void {
  const name = request.url?.split('?')[0] ?? '/';
  const found = files.get(name);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!found || !isRead) return answerNothing(response, 404);
  response.writeHead(200, {
    ...HEADERS,
    'Content-Type': TYPES[path.extname(found.file)] ?? 'application/octet-stream',
    'Content-Length': found.bytes,
    'Cache-Control': HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'no-store',
  });
  if (request.method === 'HEAD') return void response.end();
  createReadStream(found.file)
    .on('error', () => response.destroy())
    .pipe(response);
}
