/** The files of the page: only those, and compressed for browsers that say that they take it. */
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answerPage, chosenEncoding, type StaticFiles, staticFiles } from '../../../src/server/static-files.js';

const SCRIPT = 'export const answer = 42;\n'.repeat(100);
const SCRIPT_URL = '/assets/index-abcd1234.js';
const TYPES = {
  'a.html': 'text/html; charset=utf-8',
  'a.js': 'text/javascript; charset=utf-8',
  'a.css': 'text/css; charset=utf-8',
  'a.svg': 'image/svg+xml',
  'a.png': 'image/png',
  'a.woff2': 'font/woff2',
  'a.json': 'application/json; charset=utf-8',
  'a.webmanifest': 'application/manifest+json; charset=utf-8',
  'a.bin': 'application/octet-stream',
};

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

type Ask = (url: string, encodings?: string, method?: string) => Promise<Answer>;

async function startPage(): Promise<Ask> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-static-'));
  await mkdir(path.join(folder, 'assets'));
  await writeFile(path.join(folder, 'index.html'), '<!doctype html>');
  await writeFile(path.join(folder, 'lonely.gz'), 'a file of its own');
  for (const name of Object.keys(TYPES)) await writeFile(path.join(folder, name), name);
  const script = path.join(folder, SCRIPT_URL);
  await writeFile(script, SCRIPT);
  await writeFile(`${script}.br`, brotliCompressSync(SCRIPT));
  await writeFile(`${script}.gz`, gzipSync(SCRIPT));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return serve(await staticFiles(folder));
}

async function serve(files: StaticFiles): Promise<Ask> {
  const server = createServer((incoming, response) => files.answer(incoming, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return async (url, encodings, method = 'GET') => {
    const headers = encodings === undefined ? {} : { 'Accept-Encoding': encodings };
    const asked = request({ host: '127.0.0.1', port, path: url, method, headers }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
  };
}

describe('the files of the page', () => {
  it('are sent compressed to those who take it, and say so', async () => {
    const ask = await startPage();
    const br = await ask(SCRIPT_URL, 'gzip, deflate, br');
    expect(br.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding' });
    expect(br.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(br.headers['content-length']).toBe(String(br.body.length));
    expect(brotliDecompressSync(br.body).toString()).toBe(SCRIPT);
    const gzip = await ask(SCRIPT_URL, 'gzip');
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gzip.body).toString()).toBe(SCRIPT);
  });

  it('are sent as they are to everybody else', async () => {
    const ask = await startPage();
    for (const encodings of [undefined, '', 'identity', 'zstd', 'br;q=0, gzip;q=0', 'br;q=much']) {
      const { headers, body } = await ask(SCRIPT_URL, encodings);
      expect(headers['content-encoding']).toBeUndefined();
      expect(headers.vary).toBe('Accept-Encoding');
      expect(body.toString()).toBe(SCRIPT);
    }
  });

  it('have compressed copies that are no files of their own, and no other secrets', async () => {
    const ask = await startPage();
    for (const url of [`${SCRIPT_URL}.br`, `${SCRIPT_URL}.gz`, '/assets', '/../package.json', '/%2e%2e/package.json'])
      expect((await ask(url, 'br')).status).toBe(404);
    expect((await ask('/lonely.gz')).body.toString()).toBe('a file of its own');
    expect((await ask(SCRIPT_URL, 'br', 'POST')).status).toBe(404);
  });

  it('keep their policy when compressed, and tell their size without a body', async () => {
    const ask = await startPage();
    const { headers, body } = await ask(SCRIPT_URL, 'br', 'HEAD');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-length']).toBe(String(brotliCompressSync(SCRIPT).length));
    expect(body.length).toBe(0);
  });
});

describe('the document of the page', () => {
  it('[DEV-050] has a mark when other machines can connect without encryption, and no copies without it', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'atrium-static-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const document = '<html><head><title>Größe</title></head></html>';
    await writeFile(path.join(folder, 'index.html'), document);
    await writeFile(path.join(folder, 'index.html.br'), brotliCompressSync(document));
    const plain = await serve(await staticFiles(folder));
    expect((await plain('/')).body.toString()).toBe(document);
    const ask = await serve(await staticFiles(folder, { isInsecure: true }));
    const mark = '<meta name="atrium-insecure-remote" content="true" />';
    for (const url of ['/', '/index.html']) {
      const { headers, body } = await ask(url, 'br');
      expect(body.toString()).toBe(document.replace('<head>', `<head>${mark}`));
      expect(headers).toMatchObject({ 'content-length': String(body.length), 'cache-control': 'no-store' });
      expect(headers['content-encoding']).toBeUndefined();
      expect((await ask(url, 'br', 'HEAD')).body.length).toBe(0);
    }
    expect((await ask('/index.html.br')).status).toBe(404);
  });
});

describe('a file of the page', () => {
  it.each(Object.entries(TYPES))('says what it is: %s', async (name, type) => {
    const { headers, body } = await (await startPage())(`/${name}?version=1`);
    expect([headers['content-type'], body.toString()]).toEqual([type, name]);
    expect(headers.vary).toBeUndefined();
  });

  it('can do nothing but what the page needs, wherever it is opened', async () => {
    const { headers } = await (await startPage())('/');
    expect(headers).toMatchObject({
      'content-security-policy': [
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'",
        "connect-src 'self'; manifest-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      ].join('; '),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  it('may be kept for ever when its name holds a hash of it, and not at all otherwise', async () => {
    const ask = await startPage();
    expect((await ask(SCRIPT_URL)).headers['cache-control']).toBe('public, max-age=31536000, immutable');
    for (const url of ['/', '/a.js', '/lonely.gz']) expect((await ask(url)).headers['cache-control']).toBe('no-store');
  });

  it('breaks off when it cannot be read any more', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'atrium-static-'));
    await writeFile(path.join(folder, 'a.js'), 'text');
    const ask = await serve(await staticFiles(folder));
    expect((await ask('/a.js')).status).toBe(200);
    await rm(folder, { recursive: true });
    await expect(ask('/a.js')).rejects.toThrow();
    expect((await ask('/')).status).toBe(404);
  });

  it('is listed when it is first asked for, again if that failed, and must be there from the beginning', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'atrium-static-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const ask = await serve(await staticFiles(folder));
    await rm(folder, { recursive: true });
    expect((await ask('/a.js')).status).toBe(503);
    await expect(staticFiles(folder)).rejects.toThrow('ENOENT');
    await mkdir(folder);
    await writeFile(path.join(folder, 'a.js'), 'text');
    expect((await ask('/a.js')).status).toBe(200);
    await writeFile(path.join(folder, 'b.js'), 'later');
    expect((await ask('/b.js')).status).toBe(404);
  });
});

describe('a host without a page', () => {
  const closed = {
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  };

  it.each(['/', '/?token=x'])('says what it is, at %s', async (url) => {
    const { status, headers, body } = await (await serve({ answer: answerPage }))(url);
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(headers).toMatchObject(closed);
    expect(body.toString()).toContain('Agent Host Protocol');
  });

  it('says it without a body to who asks for none, and nothing else', async () => {
    const ask = await serve({ answer: answerPage });
    expect((await ask('/', undefined, 'HEAD')).status).toBe(200);
    for (const [url, method] of [
      ['/x', 'GET'],
      ['/', 'POST'],
    ] as const) {
      const { status, headers, body } = await ask(url, undefined, method);
      expect([status, body.length]).toEqual([404, 0]);
      expect(headers).toMatchObject({ ...closed, connection: 'close', 'content-length': '0' });
    }
  });
});

describe('the choice of an encoding', () => {
  it.each([
    ['br, gzip', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip;q=0.8, br;q=0.8', 'br'],
    ['*', 'br'],
    ['*;q=0.1, br;q=0', 'gzip'],
    ['BR', 'br'],
    ['identity, br;q=0.5', undefined],
    ['identity;q=0.5, br', 'br'],
    ['br;q=1.5', undefined],
    ['brotli, x-gzip', undefined],
  ] as const)('of "%s" is %s', (header, expected) => {
    expect(chosenEncoding(header, ['br', 'gzip'])).toBe(expected);
  });

  it('takes only what there is', () => {
    expect(chosenEncoding('br, gzip', ['gzip'])).toBe('gzip');
    expect(chosenEncoding('br, gzip', [])).toBeUndefined();
  });
});
