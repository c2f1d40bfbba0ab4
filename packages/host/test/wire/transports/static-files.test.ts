/** The files of the page: only those, and compressed for browsers that say that they take it. */
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { chosenEncoding } from '@atrium/core/wire/transports/encodings.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { staticFiles } from '../../../src/server/static-files.js';

const SCRIPT = 'export const answer = 42;\n'.repeat(100);
const SCRIPT_URL = '/assets/index-abcd1234.js';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

async function startPage(): Promise<(url: string, encodings?: string, method?: string) => Promise<Answer>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-static-'));
  await mkdir(path.join(folder, 'assets'));
  await writeFile(path.join(folder, 'index.html'), '<!doctype html>');
  await writeFile(path.join(folder, 'lonely.gz'), 'a file of its own');
  const script = path.join(folder, SCRIPT_URL);
  await writeFile(script, SCRIPT);
  await writeFile(`${script}.br`, brotliCompressSync(SCRIPT));
  await writeFile(`${script}.gz`, gzipSync(SCRIPT));
  const files = await staticFiles(folder);
  const server = createServer((incoming, response) => files.answer(incoming, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    await rm(folder, { recursive: true, force: true });
  });
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
