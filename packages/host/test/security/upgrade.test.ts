import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { judgeUpgrade, type UpgradeFacts, upgradePolicy } from '../../src/server/access.js';

const TOKEN = 'q3V1X0kW9b2hVJ5xS8mPzL7nA4tC6yEfRdGuIoKjHs0';
const PORT = 9300;
const DEV_PAGE = 'http://localhost:5173';

function policy(options: { token?: string | undefined; host?: string } = {}) {
  const { token = TOKEN, host = 'localhost' } = options;
  const bound = { host, port: PORT, addresses: ['127.0.0.1', '::1'], machine: ['127.0.0.1', '192.168.1.7'] };
  return upgradePolicy({ token, allowedOrigins: [DEV_PAGE], allowedHosts: ['agents.example'] }, bound);
}

function statusOf(facts: Partial<UpgradeFacts>, options?: Parameters<typeof policy>[0]): number {
  const usual = { url: '/', scheme: 'http', isProxied: false, origin: [], authorization: [`Bearer ${TOKEN}`] } as const;
  const request = { ...usual, host: [`localhost:${PORT}`], ...facts };
  const verdict = judgeUpgrade(request, policy(options));
  return verdict.ok ? 101 : verdict.status;
}

describe('[REL-001] the Origin of a request', () => {
  it.each([
    ['none: not a browser', undefined, 101],
    ['listed', DEV_PAGE, 101],
    ['listed, in upper case', 'HTTP://LOCALHOST:5173', 101],
    ['the page of this host', `http://localhost:${PORT}`, 101],
    ['null', 'null', 403],
    ['empty', '', 403],
    ['not listed', 'https://evil.test', 403],
    ['another port of this machine', 'http://localhost:3000', 403],
    ['no port, which is another server', 'http://localhost', 403],
    ['another scheme', 'https://localhost:5173', 403],
    ['looks like an address of ours', `http://127.0.0.1.evil.test:${PORT}`, 403],
    ['begins like a listed one', 'http://localhost:51730', 403],
    ['has a listed one as user name', 'http://localhost:5173@evil.test', 403],
    ['trailing dot', 'http://localhost.:5173', 403],
    ['with a path', `${DEV_PAGE}/`, 403],
    ['with a space', `${DEV_PAGE} `, 403],
    ['a look-alike letter', 'http://lоcalhost:5173', 403],
    ['a file', 'file://', 403],
  ])('%s', (_, origin, status) => {
    expect(statusOf({ origin: origin === undefined ? [] : [origin] })).toBe(status);
  });

  it('is refused when it is there twice', () => {
    expect(statusOf({ origin: [DEV_PAGE, DEV_PAGE] })).toBe(403);
  });

  it('is the own page only under the very name that was asked for', () => {
    expect(statusOf({ origin: [`http://127.0.0.1:${PORT}`] })).toBe(403);
    expect(statusOf({ origin: [`http://127.0.0.1:${PORT}`], host: [`127.0.0.1:${PORT}`] })).toBe(101);
  });

  it('is not the own page when the Host header leaves the port out: that page came from port 80', () => {
    expect(statusOf({ origin: ['http://localhost'], host: ['localhost'] })).toBe(403);
  });
});

describe('[REL-002] the Host of a request', () => {
  it.each([
    [`localhost:${PORT}`, 101],
    [`LOCALHOST:${PORT}`, 101],
    ['localhost', 101],
    [`127.0.0.1:${PORT}`, 101],
    [`[::1]:${PORT}`, 101],
    [`[::ffff:127.0.0.1]:${PORT}`, 101],
    [`[::FFFF:7f00:1]:${PORT}`, 101],
    [`agents.example:${PORT}`, 101],
    [`evil.test:${PORT}`, 403],
    ['localhost:9301', 403],
    [`localhost.:${PORT}`, 403],
    [`localhost.evil.test:${PORT}`, 403],
    [`127.0.0.1.evil.test:${PORT}`, 403],
    [`evil.test@localhost:${PORT}`, 403],
    [`localhost:${PORT}@evil.test`, 403],
    [`127.1:${PORT}`, 403],
    [`2130706433:${PORT}`, 403],
    ['localhost:', 403],
    ['localhost:99999', 403],
    ['', 403],
  ])('%s: %d', (host, status) => {
    expect(statusOf({ host: [host] })).toBe(status);
  });

  it('fails for a foreign name even when Origin equals it', () => {
    expect(statusOf({ host: [`evil.test:${PORT}`], origin: [`http://evil.test:${PORT}`] })).toBe(403);
  });

  it('fails when it is missing or there twice', () => {
    expect(statusOf({ host: [] })).toBe(403);
    expect(statusOf({ host: [`localhost:${PORT}`, `localhost:${PORT}`] })).toBe(403);
  });

  it('passes for the bound name and address', () => {
    expect(statusOf({ host: [`build.lan:${PORT}`] }, { host: 'build.lan' })).toBe(101);
    expect(statusOf({ host: [`192.168.1.7:${PORT}`] }, { host: '192.168.1.7' })).toBe(101);
    expect(statusOf({ host: [`[fe80::1]:${PORT}`] }, { host: 'fe80::1' })).toBe(101);
  });

  it('passes for every address of the machine when bound to all of them, but for no foreign name', () => {
    expect(statusOf({ host: [`192.168.1.7:${PORT}`] }, { host: '0.0.0.0' })).toBe(101);
    expect(statusOf({ host: [`0.0.0.0:${PORT}`] }, { host: '0.0.0.0' })).toBe(403);
    expect(statusOf({ host: [`evil.test:${PORT}`] }, { host: '0.0.0.0' })).toBe(403);
    for (const host of ['::', '[::]']) expect(statusOf({ host: [`192.168.1.7:${PORT}`] }, { host })).toBe(101);
    expect(statusOf({ host: [`[::]:${PORT}`] }, { host: '::' })).toBe(403);
  });
});

describe('[REL-003] the token of a request', () => {
  const encoded = TOKEN.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  const wrong = `${TOKEN.slice(0, -1)}1`;

  it.each<[string, Partial<UpgradeFacts>]>([
    ['in the header', { authorization: [`Bearer ${TOKEN}`] }],
    ['in the header, scheme in lower case', { authorization: [`bearer ${TOKEN}`] }],
    ['as token', { url: `/?token=${TOKEN}` }],
    ['as tkn', { url: `/?tkn=${TOKEN}` }],
    ['percent-encoded', { url: `/?token=${encoded}` }],
    ['among other keys', { url: `/?a=1&token=${TOKEN}&b=2` }],
    ['twice the same, in different places', { url: `/?tkn=${TOKEN}`, authorization: [`Bearer ${TOKEN}`] }],
  ])('is found %s', (_, facts) => {
    expect(statusOf({ authorization: [], ...facts })).toBe(101);
  });

  const failures: [string, Partial<UpgradeFacts>][] = [
    ['missing', {}],
    ['empty in the query', { url: '/?token=' }],
    ['empty in the header', { authorization: ['Bearer '] }],
    ['a prefix', { url: `/?token=${TOKEN.slice(0, 10)}` }],
    ['of the same length but wrong', { url: `/?token=${wrong}` }],
    ['longer', { url: `/?token=${TOKEN}A` }],
    ['repeated', { url: `/?token=${TOKEN}&token=${TOKEN}` }],
    ['repeated with another', { url: `/?token=${wrong}&token=${TOKEN}` }],
    ['different in token and tkn', { url: `/?token=${TOKEN}&tkn=${wrong}` }],
    ['different in header and query', { url: `/?token=${TOKEN}`, authorization: [`Bearer ${wrong}`] }],
    ['right in one place, empty in another', { url: '/?token=', authorization: [`Bearer ${TOKEN}`] }],
    ['percent-encoded twice', { url: `/?token=${encoded.replaceAll('%', '%25')}` }],
    ['behind a hash', { url: `/#?token=${TOKEN}` }],
    ['in the path', { url: `/${TOKEN}` }],
    ['in another case', { url: `/?token=${TOKEN.toUpperCase()}` }],
    ['under the key in another case', { url: `/?TOKEN=${TOKEN}` }],
    ['in another scheme', { authorization: [`Basic ${TOKEN}`] }],
    ['followed by something else', { authorization: [`Bearer ${TOKEN} more`] }],
    ['preceded by something else', { authorization: [`x Bearer ${TOKEN}`] }],
    ['in two headers', { authorization: [`Bearer ${TOKEN}`, `Bearer ${wrong}`] }],
  ];

  it.each(failures)('is refused with 401 when it is %s', (_, facts) => {
    expect(statusOf({ authorization: [], ...facts })).toBe(401);
  });

  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });

  it('fails in one way: every failure is the same verdict, after one comparison of two digests', () => {
    const compare = vi.spyOn(crypto, 'timingSafeEqual');
    syncBuiltinESMExports();
    const verdicts = failures.map(([, facts]) => {
      compare.mockClear();
      const host = [`localhost:${PORT}`];
      const plain = { url: '/', scheme: 'http', isProxied: false, origin: [], authorization: [] } as const;
      const verdict = judgeUpgrade({ ...plain, host, ...facts }, policy());
      expect(compare.mock.calls.map((pair) => pair.map(({ byteLength }) => byteLength))).toEqual([[32, 32]]);
      return verdict;
    });
    expect(new Set(verdicts).size).toBe(1);
  });

  it('is not asked for when the host has none, but Host and Origin are', () => {
    const open = { token: '' };
    expect(statusOf({ authorization: [] }, open)).toBe(101);
    expect(statusOf({ authorization: [], origin: ['https://evil.test'] }, open)).toBe(403);
    expect(statusOf({ authorization: [], host: ['evil.test'] }, open)).toBe(403);
  });
});

describe('[REL-003] a token that is offered twice in the query', () => {
  it.each(['token', 'tkn'])('as %s opens nothing, although the header has it, too', (key) => {
    expect(statusOf({ url: `/?${key}=${TOKEN}` })).toBe(101);
    expect(statusOf({ url: `/?${key}=${TOKEN}&${key}=${TOKEN}` })).toBe(401);
  });
});
