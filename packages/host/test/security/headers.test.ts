/** The headers of every answer that the port gives: one server, every route, every kind of refusal. */
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hstsFor } from '../../src/server/security-headers.js';
import { type RunningServer, startServer } from '../../src/server/server.js';
import { staticFiles } from '../../src/server/static-files.js';
import { echo, TOKEN } from '../wire/transports/support.js';

let folder: string;
let withPage: RunningServer;
let withoutPage: RunningServer;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'atrium-headers-'));
  await mkdir(path.join(folder, 'assets'));
  await mkdir(path.join(folder, 'diagram'));
  await writeFile(path.join(folder, 'diagram/index.html'), '<html></html>');
  await writeFile(path.join(folder, 'index.html'), '<html><head></head></html>');
  await writeFile(path.join(folder, 'assets/index-abcd1234.js'), 'let a;');
  await writeFile(path.join(folder, 'assets/index-abcd1234.js.gz'), gzipSync('let a;'));
  const page = await staticFiles(folder, { isInsecure: true });
  const common = { host: '127.0.0.1', policy: { token: TOKEN }, behindProxy: ['127.0.0.1'], onConnection: echo };
  withPage = await startServer({ ...common, page });
  withoutPage = await startServer({ ...common, limits: { clients: 0 } });
});

afterAll(async () => {
  await Promise.all([withPage?.close(), withoutPage?.close()]);
  await rm(folder, { recursive: true, force: true });
});

type Asked = { readonly path?: string; readonly method?: string; readonly headers?: Record<string, string> };

async function answer({ port }: RunningServer, { path: at = '/', method = 'GET', headers = {} }: Asked) {
  const sent = request({ host: '127.0.0.1', port, path: at, method, headers }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response;
}

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
const ROUTES: readonly [what: string, status: number, asked: Asked][] = [
  ['the page', 200, {}],
  ['the page, with a query', 200, { path: '/?a=1' }],
  ['its head', 200, { method: 'HEAD' }],
  ['what is not there', 404, { path: '/nowhere' }],
  ['what is above', 404, { path: '/../x' }],
  ['writing', 404, { method: 'POST' }],
  ['another method', 404, { method: 'OPTIONS' }],
  ['a foreign name', 403, { headers: { host: 'evil.test' } }],
  ['a malformed forwarded header', 400, { headers: { 'x-forwarded-for': 'evil' } }],
  ['an upgrade without a token', 401, { headers: UPGRADE }],
  ['an upgrade of a foreign name', 403, { headers: { ...UPGRADE, host: 'evil.test' } }],
  ['an upgrade of a foreign page', 403, { headers: { ...UPGRADE, origin: 'https://evil.test' } }],
  ['an upgrade with a malformed forwarded header', 400, { headers: { ...UPGRADE, forwarded: 'for' } }],
];

describe('[DEV-055] every answer', () => {
  const servers: readonly [string, () => RunningServer, typeof ROUTES][] = [
    [
      'with a page',
      () => withPage,
      [
        ...ROUTES,
        ['the document by its name', 200, { path: '/index.html' }],
        ['a script', 200, { path: '/assets/index-abcd1234.js' }],
        ['a compressed script', 200, { path: '/assets/index-abcd1234.js', headers: { 'accept-encoding': 'gzip' } }],
      ],
    ],
    [
      'without a page',
      () => withoutPage,
      [...ROUTES, ['no place is free', 503, { path: `/?token=${TOKEN}`, headers: UPGRADE }]],
    ],
  ];
  for (const [which, server, routes] of servers) {
    it.each(routes)(`${which}: %s (%d)`, async (_, status, asked) => {
      const { statusCode, headers } = await answer(server(), asked);
      expect(statusCode).toBe(status);
      const policy = String(headers['content-security-policy']).split('; ');
      expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'"]));
      for (const word of ['unsafe', 'nonce', 'http:', 'https:', '*']) expect(policy.join()).not.toContain(word);
      expect(headers).toMatchObject({
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': expect.stringMatching(/^no-store$|immutable/),
      });
      expect(String(headers['permissions-policy']).split(', ')).toEqual(
        expect.arrayContaining(['camera=()', 'microphone=()', 'geolocation=()', 'usb=()', 'display-capture=()']),
      );
      for (const feature of String(headers['permissions-policy']).split(', '))
        expect(feature).toMatch(/^[a-z-]+=\(\)$/);
      expect(headers['strict-transport-security']).toBeUndefined();
    });
  }
});

it('[DEV-055] an address with a token leads to the one without it, also where there are no devices and no cookie', async () => {
  const { statusCode, headers } = await answer(withoutPage, { path: `/?token=${TOKEN}&a=1` });
  expect([statusCode, headers.location, headers['set-cookie']]).toEqual([303, '/?a=1', undefined]);
  expect((await answer(withoutPage, { method: 'POST', path: `/?token=${TOKEN}` })).statusCode).toBe(404);
});

it('[DEV-055] the frame of diagrams has no origin, runs its own script only, and stands in the own page only', async () => {
  const { headers } = await answer(withPage, { path: '/diagram/index.html' });
  const policy = String(headers['content-security-policy']).split('; ');
  const rules = ['sandbox allow-scripts', "default-src 'none'", "script-src 'self'", "frame-ancestors 'self'"];
  expect(policy).toEqual(expect.arrayContaining(rules));
  expect(headers).toMatchObject({
    'referrer-policy': 'no-referrer',
    'permissions-policy': expect.stringContaining('usb=()'),
  });
});

describe('[DEV-055] staying with TLS', () => {
  it.each([
    ['https', 'agents.example', true],
    ['https', 'agents.example:9300', true],
    ['http', 'agents.example', false],
    ['https', '203.0.113.9', false],
    ['https', '203.0.113.9:9300', false],
    ['https', '[2001:db8::1]:9300', false],
    ['https', 'localhost:9300', false],
    ['https', 'app.localhost', false],
  ] as const)('%s to %s: %s', (scheme, host, isTold) => {
    const told = hstsFor({ scheme, host: [host], address: '203.0.113.9', isProxied: false });
    expect('Strict-Transport-Security' in told).toBe(isTold);
  });
});
