/** What the service worker may send without a connection, and what another page may not. */
import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answerRoute } from '../../src/notifications/answers.js';
import { ROUTE_BODY_MAX_BYTES } from '../../src/server/limits.js';
import { startServer } from '../../src/server/server.js';

const PATH = '/notifications/answer';

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

async function open() {
  const taken: unknown[] = [];
  const server = await startServer({
    policy: { token: 'a token that is long enough' },
    onConnection: () => {},
    devices: {
      hostId: 'test',
      accessOf: () => undefined,
      used: () => {},
      routes: [
        answerRoute(async (key, approved) => {
          taken.push({ key, approved });
          return { kind: 'stale', problem: 'stale' };
        }),
      ],
    },
  });
  onTestFinished(() => server.close());
  const own = `http://localhost:${server.port}`;
  const send = ({ method = 'POST', headers, body = '{"key":"k","approved":true}' }: Sent = {}) =>
    new Promise<{ status: number; text: string; headers: object }>((resolve, reject) => {
      const all = { Origin: own, 'Content-Type': 'application/json', Host: `localhost:${server.port}`, ...headers };
      const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      const sent = request({ host: '127.0.0.1', port: server.port, path: PATH, method, headers: given as never });
      sent.on('error', reject);
      sent.on('response', (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
      });
      sent.end(body);
    });
  return { taken, send, own };
}

describe('an answer of the service worker', () => {
  it('[DEV-043] is taken from a page of this host', async () => {
    const { send, taken } = await open();
    const { status, text, headers } = await send();
    expect({ status, text }).toEqual({ status: 409, text: '{"problem":"stale"}' });
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    expect(taken).toEqual([{ key: 'k', approved: true }]);
  });

  it.each([
    ['of another page', 403, { headers: { Origin: 'https://evil.example' } }],
    ['of another port', 403, { headers: { Origin: 'http://localhost:1' } }],
    ['of another scheme', 403, { headers: { Origin: 'https://localhost:1' } }],
    ['without an origin', 403, { headers: { Origin: undefined } }],
    ['of no origin', 403, { headers: { Origin: 'null' } }],
    ['to another name', 403, { headers: { Host: 'evil.example', Origin: 'http://evil.example' } }],
    ['as a form', 415, { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }],
    ['as plain text, which needs no permission', 415, { headers: { 'Content-Type': 'text/plain' } }],
    ['by GET', 404, { method: 'GET', body: '' }],
    ['that is too long', 413, { body: `"${'a'.repeat(ROUTE_BODY_MAX_BYTES)}"` }],
    ['that is no JSON', 400, { body: '{' }],
  ] as const)('[DEV-043] %s is refused with %i', async (_what, status, sent) => {
    const { send, taken } = await open();
    expect((await send(sent)).status).toBe(status);
    expect(taken).toEqual([]);
  });
});
