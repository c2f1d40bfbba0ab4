/** Attacks on devices: each test is something that a stranger, a page of others or a thief may try. */
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import {
  COOKIE_PATH,
  type DeviceInvitation,
  type DeviceList,
  deviceLink,
  HOST_KEY_PATH,
  REDEEM_PATH,
  readDeviceLink,
  TOKEN_SUBPROTOCOL,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import type { Devices } from '../../src/devices/devices.js';
import { hostKey } from '../../src/devices/host-key.js';
import { Invitations } from '../../src/devices/invitations.js';
import {
  CODE_BLOCKED_MS,
  CODE_KEPT_MS,
  CODE_TRIES_MAX,
  CODES_MAX,
  SHORT_CODE_TRIES_MAX,
} from '../../src/devices/limits.js';
import type { Host } from '../../src/host-options.js';
import { ROUTE_BODY_MAX_BYTES } from '../../src/server/limits.js';
import { bearer, cookieIn, type DeviceHost, startDeviceHost, TOKEN } from '../support/device-fixture.js';
import { shownCode } from '../support/gateway-connections.js';
import { ManualClock } from '../support/manual-clock.js';
import { openFixture } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { RawClient } from '../support/test-host.js';
import { TestProvider } from '../support/test-provider.js';

const WRONG = 'w'.repeat(22);
const listed = async (owner: RawClient) => (await owner.request<DeviceList>('atrium/devices')).items;
const own = ({ port }: DeviceHost) => ({ origin: `http://localhost:${port}` });

/** Behind the wire. */
function devicesOf(host: Host): Devices {
  return (host as unknown as { components: { devices: Devices } }).components.devices;
}

/** A page of the host that was let in: its cookie. */
async function pageOf(fixture: DeviceHost): Promise<string> {
  return cookieIn(await fixture.redeem((await fixture.invite()).code, own(fixture)));
}

describe('[DEV-010] a code that lets a device in', () => {
  it('is 128 bits, and stands in the fragment of the link, beside the fingerprint of the host', async () => {
    const { invite } = await startDeviceHost();
    const { code, fingerprint, addresses } = await invite();
    expect(Buffer.from(code, 'base64url')).toHaveLength(16);
    const link = deviceLink({ address: addresses[0] ?? '', code, fingerprint });
    const url = new URL(link);
    expect([url.pathname, url.search]).toEqual(['/', '']);
    expect(url.hash).toBe(`#add=${code}&key=${fingerprint}`);
    expect(readDeviceLink(link)).toEqual({ address: url.origin, code, fingerprint });
  });

  it.each(['https://user@host/#add=x', 'javascript:alert(1)', 'http://a/#add=short&key=x', 'http://a/b#add=', ''])(
    'is not read from %s',
    (text) => expect(readDeviceLink(text)).toBeUndefined(),
  );

  it('counts once: whoever replays it stays out', async () => {
    const { invite, redeem, owner } = await startDeviceHost();
    const { code } = await invite();
    expect((await redeem(code)).status).toBe(200);
    expect((await redeem(code)).status).toBe(401);
    expect(await listed(owner)).toHaveLength(1);
  });

  it('lets in one of many that come with it at the same time', async () => {
    const { invite, redeem, owner } = await startDeviceHost();
    const { code } = await invite();
    const answers = await Promise.all(Array.from({ length: 4 }, () => redeem(code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    expect(await listed(owner)).toHaveLength(1);
  });

  it('is over after five minutes, to the millisecond', async () => {
    const clock = new ManualClock();
    const { invite, redeem } = await startDeviceHost({ clock });
    const [early, late] = [await invite(), await invite()];
    await clock.advance(CODE_KEPT_MS - 1);
    expect((await redeem(early.code)).status).toBe(200);
    await clock.advance(1);
    expect((await redeem(late.code)).status).toBe(401);
  });

  it('is over when its maker takes it back', async () => {
    const { invite, redeem, owner } = await startDeviceHost();
    const { id, code } = await invite();
    expect(await owner.request('atrium/cancelDevice', { id })).toEqual({ wasOpen: true });
    expect((await redeem(code)).status).toBe(401);
    expect(await owner.request('atrium/cancelDevice', { id })).toEqual({ wasOpen: false });
  });

  it(`is one of ${CODES_MAX} at most`, async () => {
    const clock = new ManualClock();
    const { invite, owner } = await startDeviceHost({ clock });
    for (let count = 0; count < CODES_MAX; count++) await invite();
    expect((await owner.ask('atrium/addDevice')).error?.message).toContain('codes wait');
    await clock.advance(CODE_KEPT_MS);
    expect((await owner.ask('atrium/addDevice')).error).toBeUndefined();
  });

  it('is guessed five times at most: then even the right one is not looked at for five minutes', async () => {
    const clock = new ManualClock();
    const { invite, redeem } = await startDeviceHost({ clock });
    for (let count = 0; count < CODE_TRIES_MAX; count++) expect((await redeem(WRONG)).status).toBe(401);
    const { code } = await invite();
    const blocked = await redeem(code);
    expect(blocked.status).toBe(429);
    expect(Number(blocked.headers['retry-after'])).toBe(CODE_BLOCKED_MS / 1_000);
    await clock.advance(CODE_BLOCKED_MS - 1);
    expect((await redeem(code)).status).toBe(429);
    await clock.advance(1);
    expect((await redeem((await invite()).code)).status).toBe(200);
  });

  it('may be mistyped now and again: failures of more than a minute ago do not count', async () => {
    const clock = new ManualClock();
    const { redeem } = await startDeviceHost({ clock });
    for (let count = 0; count < 3 * CODE_TRIES_MAX; count++) {
      expect((await redeem(WRONG)).status).toBe(401);
      await clock.advance(15_000);
    }
  });

  it('leads nowhere after a crash between its use and the answer: nobody has that token, and the device goes', async () => {
    const clock = new ManualClock();
    const log = new MemoryLog();
    const { host, invite, redeem } = await startDeviceHost({ log, clock });
    const { code } = await invite();
    // Stored, and never told.
    await devicesOf(host).redeem({ code, name: undefined, isPrivate: true });
    const again = await startDeviceHost({ log, clock });
    expect((await again.redeem(code)).status).toBe(401);
    expect((await redeem(code)).status).toBe(401);
    expect(await listed(again.owner)).toHaveLength(1);
    await clock.advance(10 * 60_000);
    await vi.waitFor(async () => expect(await listed(again.owner)).toEqual([]), 10_000);
  });

  it('does not outlive the host', async () => {
    const log = new MemoryLog();
    const { invite, stop } = await startDeviceHost({ log });
    const { code } = await invite();
    expect(JSON.stringify(await log.records(''))).not.toContain(code);
    await stop();
    const again = await startDeviceHost({ log: new MemoryLog() });
    expect((await again.redeem(code)).status).toBe(401);
  });
});

describe('[DEV-011] the short code', () => {
  it('is offered only where nobody can read along, and counts only there', async () => {
    const closed = await startDeviceHost({ isPrivate: true });
    expect((await closed.invite()).shortCode).toMatch(/^\d{8}$/);
    const open = await startDeviceHost({ isPrivate: false });
    expect(await open.invite()).not.toHaveProperty('shortCode');
    const codes = new Invitations(new ManualClock());
    const { shortCode = '' } = codes.make({ role: 'viewer', by: 'x' }, { isPrivate: true });
    expect(codes.take(shortCode, { isPrivate: false }).kind).toBe('wrong');
    expect(codes.take(shortCode, { isPrivate: true }).kind).toBe('taken');
  });

  it('burns after three wrong tries, and the long one stays', async () => {
    const { invite, redeem } = await startDeviceHost();
    const { code, shortCode = '' } = await invite();
    const wrong = shortCode === '12345678' ? '87654321' : '12345678';
    for (let count = 0; count < SHORT_CODE_TRIES_MAX; count++) await redeem(wrong);
    expect((await redeem(shortCode)).status).toBe(401);
    expect((await redeem(code)).status).toBe(200);
  });

  it('counts before that, once, and takes the long one with it', async () => {
    const { invite, redeem } = await startDeviceHost();
    const { code, shortCode = '' } = await invite();
    expect((await redeem('00000000')).status).toBe(401);
    expect((await redeem(shortCode)).status).toBe(200);
    expect((await redeem(code)).status).toBe(401);
  });

  it('does not get more tries because a further code is made', () => {
    const codes = new Invitations(new ManualClock());
    const { shortCode = '' } = codes.make({ role: 'viewer', by: 'x' }, { isPrivate: true });
    const wrong = shortCode === '12345678' ? '87654321' : '12345678';
    for (let count = 0; count < SHORT_CODE_TRIES_MAX; count++) {
      codes.take(wrong, { isPrivate: true });
      codes.make({ role: 'viewer', by: 'x' }, { isPrivate: true });
    }
    expect(codes.take(shortCode, { isPrivate: true }).kind).toBe('wrong');
  });
});

describe('[DEV-012] the key of the host', () => {
  it('is made once, for its owner only, and is the same after a restart', async () => {
    const folder = await tempFolder();
    const { fingerprint } = await hostKey(folder);
    expect(fingerprint).toMatch(/^[\da-f]{32}$/);
    if (process.platform !== 'win32') expect((await stat(path.join(folder, 'host-key'))).mode & 0o777).toBe(0o600);
    expect((await hostKey(folder)).fingerprint).toBe(fingerprint);
    expect((await hostKey(await tempFolder())).fingerprint).not.toBe(fingerprint);
  });

  it.skipIf(process.platform === 'win32')('is refused when others could read it, or when it is no key', async () => {
    const open = await tempFolder();
    await hostKey(open);
    const { chmod, writeFile } = await import('node:fs/promises');
    await chmod(path.join(open, 'host-key'), 0o644);
    await expect(hostKey(open)).rejects.toThrow('can be read by other users');
    const rubbish = await tempFolder();
    await writeFile(path.join(rubbish, 'host-key'), 'rubbish', { mode: 0o600 });
    await expect(hostKey(rubbish)).rejects.toThrow('not the key of a host');
  });

  it('signs a nonce and no text that a stranger chose', async () => {
    const { ask, invite } = await startDeviceHost();
    const { fingerprint } = await invite();
    const plain = await ask(HOST_KEY_PATH);
    expect(JSON.parse(plain.text)).toEqual({ fingerprint, publicKey: expect.any(String) });
    const signed = await ask(`${HOST_KEY_PATH}?nonce=${'n'.repeat(32)}`);
    expect(JSON.parse(signed.text).signature).toMatch(/^[\w-]{86}$/);
    for (const nonce of ['short', 'x'.repeat(87), encodeURIComponent('transfer everything\n')])
      expect((await ask(`${HOST_KEY_PATH}?nonce=${nonce}`)).status).toBe(400);
  });
});

describe('[DEV-005] the cookie of the page', () => {
  it('is for the host alone: no script reads it, no other site sends it, and it has the name of this host', async () => {
    const fixture = await startDeviceHost();
    const { headers, text } = await fixture.redeem((await fixture.invite()).code, own(fixture));
    const [cookie = ''] = headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^atrium-[\da-f]{12}=[\w-]{43}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Strict$/);
    expect(cookie).toContain(fixture.host.devices.hostId);
    expect(JSON.parse(text)).not.toHaveProperty('token');
    const other = await startDeviceHost();
    expect((await pageOf(other)).split('=')[0]).not.toBe(cookie.split('=')[0]);
  });

  it('is Secure, and of this host alone, when the page came over TLS through a trusted proxy', async () => {
    const proxied = { behindProxy: ['127.0.0.1', '::1'], policy: { token: TOKEN, allowedHosts: ['agents.example'] } };
    const { invite, redeem, upgrade } = await startDeviceHost({ server: proxied });
    const headers = {
      ...{ 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'agents.example' },
      origin: 'https://agents.example',
    };
    const answer = await redeem((await invite()).code, headers);
    expect(answer.headers['set-cookie']?.[0]).toMatch(/^__Host-atrium-[\da-f]{12}=.*; Secure$/);
    expect(await upgrade({ headers: { ...headers, cookie: cookieIn(answer) } })).toBe(101);
    // Without TLS anybody could have set the name without its prefix.
    const bare = cookieIn(answer).replace('__Host-', '');
    expect(await upgrade({ headers: { ...headers, cookie: bare } })).toBe(401);
  });

  it('ends with the access of its device', async () => {
    const clock = new ManualClock();
    const fixture = await startDeviceHost({ clock });
    const { code } = await fixture.invite({ until: new Date(90_000).toISOString() });
    const { headers } = await fixture.redeem(code, own(fixture));
    expect(headers['set-cookie']?.[0]).toContain('Max-Age=90;');
  });

  it('opens a WebSocket of the own page, and begins anew with each visit', async () => {
    const fixture = await startDeviceHost();
    const cookie = await pageOf(fixture);
    expect(await fixture.upgrade({ headers: { cookie, ...own(fixture) } })).toBe(101);
    const visit = await fixture.ask('/', { headers: { cookie } });
    expect(visit.headers['set-cookie']?.[0]).toContain(cookie);
    expect((await fixture.ask('/', { headers: { cookie: `${cookie}x` } })).headers['set-cookie']).toBeUndefined();
    const renewed = async (path: string) => (await fixture.ask(path, { headers: { cookie } })).headers['set-cookie'];
    for (const document of ['/?a=1', '/index.html', '/index.html?a=1'])
      expect((await renewed(document))?.[0]).toContain(cookie);
    for (const other of ['/index.htmlx', '/x/index.html', '/assets/a.js', '/index'])
      expect(await renewed(other)).toBeUndefined();
  });

  it.each<[string, (port: number) => Record<string, string>, number]>([
    ['without an Origin: a program that stole it', () => ({}), 401],
    ['of a page of others (CSWSH)', () => ({ origin: 'https://evil.test' }), 403],
    ['of a page on another port of this machine', () => ({ origin: 'http://localhost:3000' }), 403],
    ['of a page with the own name on port 80', () => ({ origin: 'http://localhost' }), 403],
    ['of a page over TLS that this host did not serve', (port) => ({ origin: `https://localhost:${port}` }), 403],
    ['of a sandboxed frame', () => ({ origin: 'null' }), 403],
    ['of a listed page, which is not the own one', () => ({ origin: 'http://dev.test:5173' }), 401],
  ])('does not open one %s', async (_, headers, status) => {
    const policy = { token: TOKEN, allowedOrigins: ['http://dev.test:5173'] };
    const fixture = await startDeviceHost({ server: { policy } });
    const cookie = await pageOf(fixture);
    expect(await fixture.upgrade({ headers: { cookie, ...headers(fixture.port) } })).toBe(status);
  });

  it('does not open one under a Host name that is not ours (DNS rebinding)', async () => {
    const fixture = await startDeviceHost();
    const cookie = await pageOf(fixture);
    const host = `evil.test:${fixture.port}`;
    expect(await fixture.upgrade({ headers: { cookie, host, origin: `http://${host}` } })).toBe(403);
    expect((await fixture.ask(REDEEM_PATH, { body: {}, headers: { host } })).status).toBe(403);
  });

  it('of another host does not count, and two of one name count as none', async () => {
    const fixture = await startDeviceHost();
    const other = await startDeviceHost();
    const foreign = await pageOf(other);
    expect(await fixture.upgrade({ headers: { cookie: foreign, ...own(fixture) } })).toBe(401);
    const cookie = await pageOf(fixture);
    expect(await fixture.upgrade({ headers: { cookie: `${cookie}; ${cookie}`, ...own(fixture) } })).toBe(401);
    expect(await fixture.upgrade({ headers: { cookie: `${foreign}; ${cookie}`, ...own(fixture) } })).toBe(101);
  });

  it('counts less than a token that the request names: a share stays a share in the browser of an owner', async () => {
    const fixture = await startDeviceHost();
    const cookie = await pageOf(fixture);
    const path = '/?token=wrong';
    expect(await fixture.upgrade({ path, headers: { cookie, ...own(fixture) } })).toBe(401);
  });

  it('is exchanged for the connection token, and given back', async () => {
    const fixture = await startDeviceHost();
    const exchange = (headers: object, body: object = {}) =>
      fixture.ask(COOKIE_PATH, { body, headers: { ...own(fixture), ...headers } });
    const answer = await exchange(bearer(TOKEN));
    expect(answer.status).toBe(204);
    expect(await fixture.upgrade({ headers: { cookie: cookieIn(answer), ...own(fixture) } })).toBe(101);
    expect((await exchange(bearer('wrong'))).status).toBe(401);
    expect((await exchange({})).status).toBe(401);
    expect((await exchange({}, { forget: true })).headers['set-cookie']?.[0]).toContain('Max-Age=0;');
    expect((await fixture.ask(COOKIE_PATH, { body: {}, headers: bearer(TOKEN) })).status).toBe(403);
  });
});

describe('[DEV-005] a page of others', () => {
  it.each<[string, Record<string, string>, number]>([
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['plain text', { 'content-type': 'text/plain' }, 415],
    ['a form with files', { 'content-type': 'multipart/form-data; boundary=x' }, 415],
    ['JSON from elsewhere', { origin: 'https://evil.test' }, 403],
    ['JSON from another port', { origin: 'http://localhost:3000' }, 403],
    ['JSON in a disguise', { 'content-encoding': 'gzip' }, 415],
  ])('cannot bring a code for the person in front of it (CSRF): %s', async (_, headers, status) => {
    const fixture = await startDeviceHost();
    const { code } = await fixture.invite();
    const usual = headers.origin === undefined ? own(fixture) : {};
    expect((await fixture.redeem(code, { ...usual, ...headers })).status).toBe(status);
    expect(await listed(fixture.owner)).toEqual([]);
  });

  it.each([
    ['no JSON', '{', 400],
    ['no object', 'null', 400],
    ['a code that is none', '{"code":7}', 400],
    ['a name that is none', `{"code":"${WRONG}","name":{}}`, 400],
    ['a name without end', JSON.stringify({ code: WRONG, name: 'x'.repeat(10_000) }), 400],
    ['too much', JSON.stringify({ code: 'x'.repeat(ROUTE_BODY_MAX_BYTES) }), 413],
  ])('and nobody gets anything out of %s', async (_, text, status) => {
    const { ask } = await startDeviceHost();
    expect((await ask(REDEEM_PATH, { method: 'POST', text })).status).toBe(status);
  });

  it('cannot ask the routes in another way', async () => {
    const { ask } = await startDeviceHost();
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS'])
      expect((await ask(REDEEM_PATH, { method })).status).toBe(404);
    expect((await ask(HOST_KEY_PATH, { method: 'POST', body: {} })).status).toBe(404);
  });
});

describe('[DEV-004] a token or a code is never told to', () => {
  it('the log, the wire log, telemetry or an error', async () => {
    const lines: string[] = [];
    const logger: Logger = {
      hears: () => true,
      log: (level, message, fields) => lines.push(JSON.stringify({ level, message, fields })),
    };
    const folder = await tempFolder();
    const wireLog = path.join(folder, 'wire');
    const fixture = await startDeviceHost({ logger, host: { wireLog } });
    const { code, shortCode = 'none' } = await fixture.invite();
    const { token } = JSON.parse((await fixture.redeem(code)).text) as { token: string };
    for (const path of [`/?token=${token}`, `/?tkn=${token}x`, `//x/?token=${token}`]) {
      await fixture.upgrade({ path }).catch(() => 0);
      const { text, headers } = await fixture.ask(path);
      expect(text + JSON.stringify(headers.location)).not.toContain(token);
    }
    await fixture.upgrade({ headers: bearer(`${token}y`) });
    await fixture.upgrade({ protocols: ['atrium', `${TOKEN_SUBPROTOCOL}${token}z`] });
    await fixture.redeem(`${code}x`);
    await fixture.stop();
    const files = await Promise.all((await readdir(wireLog)).map((file) => readFile(path.join(wireLog, file), 'utf8')));
    expect(files.join('')).toContain('atrium/addDevice');
    for (const secret of [token, code, shortCode]) {
      expect(lines.join('\n')).not.toContain(secret);
      expect(files.join('\n')).not.toContain(secret);
    }
  });

  it('another site, by the Referer: every answer forbids it', async () => {
    const { ask } = await startDeviceHost();
    for (const path of ['/', '/?token=x', HOST_KEY_PATH, '/nothing'])
      expect((await ask(path)).headers['referrer-policy']).toBe('no-referrer');
  });

  it('a cache', async () => {
    const fixture = await startDeviceHost();
    const answers = [await fixture.redeem((await fixture.invite()).code), await fixture.ask('/?token=x')];
    for (const { headers } of answers) expect(headers['cache-control']).toBe('no-store');
  });
});

describe('a removed or foreign credential', () => {
  it('[DEV-007] hears nothing more on an open stream, not even when it does not answer the close', async () => {
    const fixture = await startDeviceHost();
    const { id, token } = await fixture.admit();
    const client = new RawClient();
    fixture.host.connect(client.transport, fixture.host.devices.accessOf(token));
    await client.initialize('open-stream');
    await fixture.owner.request('atrium/removeDevice', { id });
    expect(client.closed?.code).toBe(CloseCode.AccessEnded);
    const heard = client.received.length;
    client.send({ id: 99, method: 'listSessions', params: { channel: 'ahp-root://' } });
    await fixture.owner.request('listSessions', { channel: 'ahp-root://' });
    expect(client.received).toHaveLength(heard);
  });

  it('[DEV-007] is out also in the middle of its handshake', async () => {
    const { admit, open, owner } = await startDeviceHost();
    const { id, token } = await admit();
    const closed = once(await open({ headers: bearer(token) }), 'close');
    await owner.request('atrium/removeDevice', { id });
    expect((await closed)[0]).toBe(CloseCode.AccessEnded);
  });

  it('[DEV-014] does not become a provider: neither with a code nor with a token of a device', async () => {
    const fixture = await openFixture();
    const invite = () => fixture.client.request<DeviceInvitation>('atrium/addDevice');
    const { code, shortCode = '' } = await invite();
    for (const secret of [code, shortCode, shortCode.slice(0, 6)]) {
      const provider = TestProvider.connect(fixture.host, 'network');
      provider.send({ type: 'auth', mode: 'pair', name: 'intruder' });
      await provider.next('auth.pairing');
      provider.send({ type: 'auth.confirm', code: secret });
      expect(await provider.next('error')).toMatchObject({ code: expect.stringMatching(/^(AUTH_FAILED|INVALID)/) });
    }
    const redeemed = await devicesOf(fixture.host.host).redeem({ code, name: undefined, isPrivate: true });
    const token = redeemed.kind === 'in' ? redeemed.device.token : 'none';
    const provider = TestProvider.connect(fixture.host, 'network');
    provider.send({ type: 'auth', mode: 'token', token });
    expect(await provider.next('error')).toMatchObject({ code: expect.stringMatching(/^(AUTH_FAILED|INVALID)/) });
  });

  it('[DEV-014] the code of a provider, which lets the provider in, lets no device in', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host, 'network');
    provider.send({ type: 'auth', mode: 'pair', name: 'browser' });
    await provider.next('auth.pairing');
    const code = await shownCode(fixture.client, fixture.uri);
    const redeemed = await devicesOf(fixture.host.host).redeem({ code, name: undefined, isPrivate: true });
    expect(redeemed.kind).toBe('wrong');
    provider.send({ type: 'auth.confirm', code });
    await provider.next('sessions');
  });
});

describe('[DEV-006] [REL-014] a client id', () => {
  async function deviceClient(fixture: DeviceHost) {
    const { id, token } = await fixture.admit();
    const connect = () => {
      const client = new RawClient();
      fixture.host.connect(client.transport, fixture.host.devices.accessOf(token));
      return client;
    };
    return { id, connect };
  }
  const greeting = (clientId: string) => ({ channel: 'ahp-root://', protocolVersions: ['0.3.0'], clientId });
  const back = (clientId: string) => ({ channel: 'ahp-root://', clientId, lastSeenServerSeq: 0, subscriptions: [] });

  it('belongs to the credential that used it first: another one is refused, with initialize and reconnect', async () => {
    const fixture = await startDeviceHost();
    const [first, second] = [await deviceClient(fixture), await deviceClient(fixture)];
    const victim = first.connect();
    await victim.initialize('mine');
    for (const thief of [second.connect(), ownerOf(fixture)]) {
      expect((await thief.ask('initialize', greeting('mine'))).error?.code).toBe(-32009);
      expect((await thief.ask('reconnect', back('mine'))).error?.code).toBe(-32009);
    }
    expect(victim.closed).toBeUndefined();
    const again = first.connect();
    expect((await again.ask('reconnect', back('mine'))).error).toBeUndefined();
    expect(victim.closed?.code).toBe(CloseCode.Replaced);
  });

  it("of the connection token is no device's, and is shared by all who have that token", async () => {
    const fixture = await startDeviceHost();
    const device = await deviceClient(fixture);
    const one = ownerOf(fixture);
    await one.initialize('shared');
    expect((await device.connect().ask('initialize', greeting('shared'))).error?.code).toBe(-32009);
    expect((await ownerOf(fixture).ask('initialize', greeting('shared'))).error).toBeUndefined();
  });

  it('goes to one of two that claim it at the same time', async () => {
    const fixture = await startDeviceHost();
    const [first, second] = [await deviceClient(fixture), await deviceClient(fixture)];
    const answers = await Promise.all([
      first.connect().ask('initialize', greeting('contested')),
      second.connect().ask('initialize', greeting('contested')),
    ]);
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1);
  });

  it('is still its own after a restart', async () => {
    const log = new MemoryLog();
    const fixture = await startDeviceHost({ log });
    await (await deviceClient(fixture)).connect().initialize('kept');
    const again = await startDeviceHost({ log });
    expect((await ownerOf(again).ask('initialize', greeting('kept'))).error?.code).toBe(-32009);
  });

  it('is free when the owner releases it, and not by a device', async () => {
    const fixture = await startDeviceHost();
    const device = await deviceClient(fixture);
    const client = device.connect();
    await client.initialize('released');
    expect((await client.ask('atrium/releaseClient', { clientId: 'released' })).error?.code).toBe(-32009);
    expect(await fixture.owner.request('atrium/releaseClient', { clientId: 'released' })).toEqual({ wasKnown: true });
    expect(client.closed?.code).toBe(CloseCode.AccessEnded);
    expect((await ownerOf(fixture).ask('initialize', greeting('released'))).error).toBeUndefined();
    expect(await fixture.owner.request('atrium/releaseClient', { clientId: 'nobody' })).toEqual({ wasKnown: false });
  });

  it('[DEV-007] of a removed device is free after the grace time, and begins anew', async () => {
    const clock = new ManualClock();
    const fixture = await startDeviceHost({ clock });
    const device = await deviceClient(fixture);
    await device.connect().initialize('orphan');
    await fixture.owner.request('atrium/removeDevice', { id: device.id });
    await clock.advance(29_999);
    expect((await ownerOf(fixture).ask('initialize', greeting('orphan'))).error?.code).toBe(-32009);
    await clock.advance(1);
    expect((await ownerOf(fixture).ask('reconnect', back('orphan'))).error?.code).toBe(-32008);
    expect((await ownerOf(fixture).ask('initialize', greeting('orphan'))).error).toBeUndefined();
  });

  function ownerOf({ host }: DeviceHost): RawClient {
    const client = new RawClient();
    host.connect(client.transport);
    return client;
  }
});
