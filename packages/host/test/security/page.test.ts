/** What the page that the host serves lets others do: nothing. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { staticFiles } from '../../src/server/static-files.js';
import { tempFolder } from '../support/temp-folder.js';

/** Asks for a path as it is written: `fetch` would put it in order first. */
async function ask(path: string, method = 'GET'): Promise<IncomingMessage> {
  const folder = await tempFolder({ 'page/index.html': '<p>page</p>', 'secret.txt': 'secret' });
  const files = await staticFiles(`${folder}/page`);
  const server = createServer((asked, response) => files.answer(asked, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, path, method }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response;
}

describe('the page of the host', () => {
  it('runs no script but its own, loads nothing from elsewhere, and stands in no frame', async () => {
    const { statusCode, headers } = await ask('/');
    expect(statusCode).toBe(200);
    const policy = new Set(headers['content-security-policy']?.toString().split('; '));
    for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]) {
      expect(policy).toContain(rule);
    }
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  });

  it.each(['/../secret.txt', '/%2e%2e/secret.txt', '/..%2fsecret.txt', '//secret.txt', '/page', '/index.html/..'])(
    'is all that is served: not %s',
    async (path) => {
      expect((await ask(path)).statusCode).toBe(404);
    },
  );

  it('cannot be written to', async () => {
    expect((await ask('/', 'POST')).statusCode).toBe(404);
  });
});
