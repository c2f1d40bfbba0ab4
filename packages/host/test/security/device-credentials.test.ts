/** The tokens of devices: how they are kept, where they may stand, and how they end. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { OWNER } from '@atrium/core/contracts/access.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import {
  COOKIE_PATH,
  type Device,
  type DeviceInvitation,
  type DeviceList,
  type NotificationReceivers,
  TOKEN_SUBPROTOCOL,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { isWithin } from '../../src/devices/granting.js';
import { DEVICES_MAX, FIRST_USE_MS, USE_NOTED_EVERY_MS } from '../../src/devices/limits.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { ATTEMPT_DELAY_MAX_MS, ATTEMPTS_WAITING_MAX, FAILURES_PER_ADDRESS_MAX } from '../../src/server/limits.js';
import { bearer, cookieIn, type DeviceHost, NEXT_TOKEN, startDeviceHost, TOKEN } from '../support/device-fixture.js';
import { ManualClock } from '../support/manual-clock.js';
import { TestBrowser } from '../support/push-service.js';
import { signal } from '../support/signal.js';
import { tempFolder } from '../support/temp-folder.js';
import { RawClient } from '../support/test-host.js';

const listed = async (owner: RawClient) => (await owner.request<DeviceList>('atrium/devices')).items;
const records = (log: MemoryLog) => log.records('credential:');

describe('the token of a device', () => {
  it('[DEV-001] [DEV-002] is 32 random bytes, and only its digest is stored, with what belongs to it', async () => {
    const log = new MemoryLog();
    const { admit } = await startDeviceHost({ log });
    const { token } = await admit({ name: 'Phone', role: 'approver', until: '2099-01-01T00:00:00Z' });
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const [record] = await records(log);
    expect(record?.value).not.toContain(token);
    expect(JSON.parse(record?.value ?? '')).toMatchObject({
      ...{ kind: 'device', name: 'Phone', role: 'approver', expiresAt: Date.parse('2099-01-01T00:00:00Z') },
      ...{ createdAt: expect.any(Number), digest: expect.stringMatching(/^[\w-]{43}$/) },
    });
  });

  it('[DEV-002] is in the log before its device hears of it, and nobody gets in when it cannot be stored', async () => {
    const log = new MemoryLog();
    const fixture = await startDeviceHost({ log });
    const { code } = await fixture.invite();
    vi.spyOn(log, 'append').mockRejectedValue(new Error('disk on fire'));
    expect((await fixture.redeem(code)).status).toBe(500);
    expect(await listed(fixture.owner)).toEqual([]);
  });

  it('[DEV-002] [DEV-008] lets its device in after a restart, from the database', async () => {
    const dataDir = await tempFolder();
    const first = await startDeviceHost({ log: await openSqliteLog({ dataDir }), host: { dataFolder: dataDir } });
    const { token } = await first.admit();
    expect(await first.upgrade({ headers: bearer(token) })).toBe(101);
    await first.stop();
    for (const file of ['atrium.db', 'atrium.db-wal'])
      expect(await readFile(`${dataDir}/${file}`, 'latin1').catch(() => '')).not.toContain(token);
    const second = await startDeviceHost({ log: await openSqliteLog({ dataDir }), host: { dataFolder: dataDir } });
    expect(await second.upgrade({ headers: bearer(token) })).toBe(101);
  });

  it('[DEV-002] notes when and from where it was used: the first time at once, then sparingly', async () => {
    const clock = new ManualClock();
    const log = new MemoryLog();
    const fixture = await startDeviceHost({ log, clock });
    const { token } = await fixture.admit();
    const use = () => fixture.open({ headers: { ...bearer(token), 'user-agent': `Tester ${'x'.repeat(500)}` } });
    const stored = async () => JSON.parse((await records(log))[0]?.value ?? '').lastUsed?.at;
    expect(await stored()).toBeUndefined();
    await clock.advance(1_000);
    await use();
    await vi.waitFor(async () => expect(await stored()).toBe(1_000), 10_000);
    await clock.advance(USE_NOTED_EVERY_MS - 1);
    await use();
    const [device] = await listed(fixture.owner);
    expect(Date.parse(device?.lastUsed?.at ?? '')).toBe(USE_NOTED_EVERY_MS + 999);
    expect(device?.lastUsed?.userAgent).toHaveLength(200);
    expect(device?.lastUsed?.address).toMatch(/^(127\.0\.0\.1|::1)$/);
    expect(await stored()).toBe(1_000);
    await clock.advance(1);
    await use();
    await vi.waitFor(async () => expect(await stored()).toBe(USE_NOTED_EVERY_MS + 1_000), 10_000);
  });

  it('[DEV-003] answers unknown, expired, removed and malformed ones alike', async () => {
    const clock = new ManualClock();
    const fixture = await startDeviceHost({ clock });
    const expired = await fixture.admit({ until: new Date(60_000).toISOString() });
    const removed = await fixture.admit();
    await fixture.owner.request('atrium/removeDevice', { id: removed.id });
    await clock.advance(60_000);
    const answers = [];
    for (const token of [expired.token, removed.token, 'x'.repeat(43), 'x', '%00', 'ü'.normalize()]) {
      const { status, headers, text } = await fixture.ask(COOKIE_PATH, {
        body: {},
        headers: { ...bearer(encodeURIComponent(token)), origin: `http://localhost:${fixture.port}` },
      });
      answers.push(JSON.stringify({ status, text, names: Object.keys(headers).sort() }));
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('"status":401');
  });

  it('[DEV-002] never came to its device when that does not come: it is removed after ten minutes', async () => {
    const clock = new ManualClock();
    const log = new MemoryLog();
    const { admit, upgrade } = await startDeviceHost({ clock, log });
    const { token } = await admit();
    const used = await admit();
    expect(await upgrade({ headers: bearer(used.token) })).toBe(101);
    await clock.advance(FIRST_USE_MS);
    expect(await upgrade({ headers: bearer(token) })).toBe(401);
    expect(await upgrade({ headers: bearer(used.token) })).toBe(101);
    await vi.waitFor(async () => expect(await records(log)).toHaveLength(1), 10_000);
  });

  it(`[DEV-002] is refused to the ${DEVICES_MAX + 1}st device`, async () => {
    const clock = new ManualClock();
    const { invite, redeem, admit } = await startDeviceHost({ clock });
    for (let count = 0; count < DEVICES_MAX; count++) await admit();
    expect((await redeem((await invite()).code)).status).toBe(409);
  });
});

describe('[DEV-004] a token may stand', () => {
  it('in the header, in a subprotocol that is never echoed, and in the query of existing clients', async () => {
    const { admit, upgrade, open } = await startDeviceHost();
    const { token } = await admit();
    expect(await upgrade({ headers: bearer(token) })).toBe(101);
    const websocket = await open({ protocols: ['atrium', `${TOKEN_SUBPROTOCOL}${token}`] });
    expect(websocket.protocol).toBe('atrium');
    expect(await upgrade({ path: `/?token=${token}` })).toBe(101);
    expect(await upgrade({ path: `/?tkn=${token}` })).toBe(101);
    expect(await upgrade({ protocols: ['atrium', `${TOKEN_SUBPROTOCOL}wrong`] })).toBe(401);
    expect(await upgrade({ headers: bearer(token), protocols: ['atrium', `${TOKEN_SUBPROTOCOL}${TOKEN}`] })).toBe(401);
  });

  it('in the query of a page only until the redirect, which gives the cookie in its place', async () => {
    const { ask, admit, upgrade, port } = await startDeviceHost();
    const { token } = await admit();
    const answer = await ask(`/?token=${token}&x=1`);
    expect(answer).toMatchObject({ status: 303, text: '' });
    expect(answer.headers.location).toBe('/?x=1');
    expect(JSON.stringify(answer.headers.location)).not.toContain(token);
    const origin = `http://localhost:${port}`;
    expect(await upgrade({ headers: { cookie: cookieIn(answer), origin } })).toBe(101);
    const wrong = await ask('/?tkn=wrong');
    expect(wrong).toMatchObject({ status: 303 });
    expect(wrong.headers['set-cookie']).toBeUndefined();
  });

  it('in no link of a page of others that would put its own access in the place of yours', async () => {
    const { ask, admit } = await startDeviceHost();
    const { token } = await admit();
    for (const from of ['cross-site', 'same-site'])
      expect(
        (await ask(`/?token=${token}`, { headers: { 'sec-fetch-site': from } })).headers['set-cookie'],
      ).toBeUndefined();
    for (const from of ['none', 'same-origin'])
      expect(
        (await ask(`/?token=${token}`, { headers: { 'sec-fetch-site': from } })).headers['set-cookie'],
      ).toBeDefined();
  });

  it('in an address that is read, and in none that is written to', async () => {
    const { ask, admit } = await startDeviceHost();
    const { token } = await admit();
    const read = await ask(`/?token=${token}`, { method: 'HEAD' });
    expect([read.status, read.headers['set-cookie']?.length]).toEqual([303, 1]);
    const written = await ask(`/?token=${token}`, { method: 'POST' });
    expect([written.status, written.headers['set-cookie']]).toEqual([404, undefined]);
  });

  it('waits with wrong ones in addresses as with all others', async () => {
    const clock = new ManualClock();
    const { ask } = await startDeviceHost({ clock });
    for (let count = 0; count < FAILURES_PER_ADDRESS_MAX; count += 1)
      expect(await ask('/?token=wrong')).toMatchObject({ status: 303 });
    const before = clock.pending;
    const waiting = Array.from({ length: ATTEMPTS_WAITING_MAX }, () => ask('/?token=wrong'));
    await expect.poll(() => clock.pending).toBe(before + ATTEMPTS_WAITING_MAX);
    expect((await ask('/?token=wrong')).status).toBe(429);
    await clock.advance(ATTEMPT_DELAY_MAX_MS);
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(303);
  });

  it.each(['//?token=x', '//evil.test/?token=x', '/\\evil.test?token=x', 'http://evil.test/?token=x'])(
    'in no redirect that leads elsewhere: %s',
    async (path) => {
      const { ask } = await startDeviceHost();
      const { headers } = await ask(path);
      expect(headers.location ?? '/').toMatch(/^\/(?![/\\])/);
    },
  );
});

describe('the end of a device', () => {
  it('[DEV-007] closes its open connections at once, with a code of its own, and lets it in no more', async () => {
    const { owner, admit, open, upgrade } = await startDeviceHost();
    const { id, token } = await admit();
    const sockets = [await open({ headers: bearer(token) }), await open({ headers: bearer(token) })];
    const closed = sockets.map((socket) => once(socket, 'close'));
    expect(await owner.request('atrium/removeDevice', { id })).toEqual({ closed: 2 });
    for (const end of closed) expect((await end)[0]).toBe(CloseCode.AccessEnded);
    expect(await upgrade({ headers: bearer(token) })).toBe(401);
    expect((await owner.ask('atrium/removeDevice', { id })).error?.code).toBe(-32008);
  });

  it('[DEV-007] comes by itself when its time is over', async () => {
    const clock = new ManualClock();
    const { admit, open, owner } = await startDeviceHost({ clock });
    const { token } = await admit({ until: new Date(5_000).toISOString() });
    const closed = once(await open({ headers: bearer(token) }), 'close');
    await clock.advance(5_000);
    expect((await closed)[0]).toBe(CloseCode.AccessEnded);
    await vi.waitFor(async () => expect(await listed(owner)).toEqual([]), 10_000);
  });

  it('[DEV-007] is told to those who promised it something, such as pushes', async () => {
    const { host, owner, admit } = await startDeviceHost();
    const { components } = host as unknown as {
      components: { devices: { onGone(listener: (id: string) => void): void } };
    };
    const gone = vi.fn();
    components.devices.onGone(gone);
    const { id } = await admit();
    await owner.request('atrium/removeDevice', { id });
    expect(gone).toHaveBeenCalledExactlyOnceWith(id);
  });

  it('[DEV-007] stays its end after a restart', async () => {
    const log = new MemoryLog();
    const { owner, admit } = await startDeviceHost({ log });
    const { id, token } = await admit();
    await owner.request('atrium/removeDevice', { id });
    const again = await startDeviceHost({ log });
    expect(await again.upgrade({ headers: bearer(token) })).toBe(401);
  });

  it('[DEV-008] a new connection token cuts off who came with the old one, and no device', async () => {
    const { owner, admit, open, upgrade } = await startDeviceHost();
    const { token } = await admit();
    const old = await open({ headers: bearer(TOKEN) });
    const device = await open({ headers: bearer(token) });
    const closed = once(old, 'close');
    expect(await owner.request('atrium/rotateToken')).toEqual({ closing: 1 });
    expect((await closed)[0]).toBe(CloseCode.AccessEnded);
    expect(await upgrade({ headers: bearer(TOKEN) })).toBe(401);
    expect(await upgrade({ headers: bearer(NEXT_TOKEN) })).toBe(101);
    expect(device.readyState).toBe(device.OPEN);
  });

  it('[DEV-008] ... and the codes that were made with the old one', async () => {
    const { owner, invite, redeem, admit, host } = await startDeviceHost();
    const { token } = await admit({ role: 'owner' });
    const device = new RawClient();
    host.connect(device.transport, host.devices.accessOf(token));
    await device.initialize('an-owner');
    const kept = await device.request<DeviceInvitation>('atrium/addDevice', { role: 'viewer' });
    const { code } = await invite();
    await owner.request('atrium/rotateToken');
    expect((await redeem(code)).status).toBe(401);
    expect((await redeem(kept.code)).status).toBe(200);
  });

  it.each([
    ['while the host runs', true],
    ['by its next start', false],
  ])(
    '[DEV-007] [DEV-008] a connection token that is replaced %s ends the pushes of browsers that had it',
    async (_when, isRunning) => {
      const dataDir = await tempFolder();
      const log = () => openSqliteLog({ dataDir });
      const first = await startDeviceHost({ log: await log(), host: { notifications: { desktop: null } } });
      const phone = new RawClient();
      const { token } = await first.admit({ role: 'owner' });
      first.host.connect(phone.transport, first.host.devices.accessOf(token));
      await phone.initialize('phone');
      const push = (name: string) => ({
        kind: 'push',
        name,
        subscription: new TestBrowser('https://push.example/1').subscription,
      });
      const webhook = { kind: 'webhook', name: 'webhook', url: 'https://hooks.example/1' };
      const page = { kind: 'page', name: 'page' };
      for (const params of [push('stolen'), page, webhook]) await first.owner.request('atrium/setReceiver', params);
      await phone.request('atrium/setReceiver', push('phone'));
      const names = async ({ owner }: DeviceHost) =>
        (await owner.request<NotificationReceivers>('atrium/notifications')).items.map(({ name }) => name).sort();
      if (isRunning) {
        await first.owner.request('atrium/rotateToken');
        expect(await names(first)).toEqual(['phone', 'webhook']);
      }
      await first.stop();
      const same = isRunning ? NEXT_TOKEN : TOKEN;
      const again = await startDeviceHost({
        log: await log(),
        server: { policy: { token: same } },
        host: { notifications: { desktop: null } },
      });
      expect(await names(again)).toEqual(isRunning ? ['phone', 'webhook'] : ['page', 'phone', 'stolen', 'webhook']);
      await again.stop();
      const last = await startDeviceHost({
        log: await log(),
        server: { policy: { token: 'a-third-token' } },
        host: { notifications: { desktop: null } },
      });
      expect(await names(last)).toEqual(['phone', 'webhook']);
    },
  );
});

describe('who may do what with devices', () => {
  it('[DEV-013] shows a new device at once to every owner who looks, with place and program', async () => {
    const { host, owner, admit, open } = await startDeviceHost();
    const other = new RawClient();
    host.connect(other.transport);
    await other.initialize('other-owner');
    for (const client of [owner, other]) await listed(client);
    const { id, token } = await admit({ name: 'Phone' });
    for (const client of [owner, other]) await client.until(({ method }) => method === 'atrium/devicesChanged');
    await open({ headers: { ...bearer(token), 'user-agent': 'Pocket/1' } });
    const expected: Partial<Device> = { id, name: 'Phone', role: 'driver', connections: 1 };
    expect(await listed(other)).toMatchObject([{ ...expected, lastUsed: { userAgent: 'Pocket/1' } }]);
  });

  it.each(['viewer', 'approver', 'driver'])('[DEV-013] is the owner only: not the %s', async (role) => {
    const { host, admit } = await startDeviceHost();
    const { token } = await admit({ role });
    const client = new RawClient();
    host.connect(client.transport, host.devices.accessOf(token));
    await client.initialize('a-device');
    for (const method of ['devices', 'addDevice', 'changeDevice', 'removeDevice', 'rotateToken', 'releaseClient'])
      expect((await client.ask(`atrium/${method}`, { id: 'x', clientId: 'x' })).error?.code).toBe(-32009);
  });

  it('[DEV-013] [DEV-023] what is not said when a device is changed stays: a shorter time gives a viewer no other role', async () => {
    const { host, admit, owner } = await startDeviceHost();
    const { token, id } = await admit({ role: 'viewer' });
    await owner.request('atrium/changeDevice', { id, until: '2090-01-01T00:00:00Z' });
    expect(host.devices.accessOf(token)).toMatchObject({ role: 'viewer', until: Date.parse('2090-01-01T00:00:00Z') });
    await owner.request('atrium/changeDevice', { id, role: 'approver' });
    expect(host.devices.accessOf(token)).toMatchObject({ role: 'approver', until: Date.parse('2090-01-01T00:00:00Z') });
  });

  it('[DEV-013] [DEV-023] bounds and an end are taken away with null, one by one or at once, also in the log', async () => {
    const { owner, admit, log } = await startDeviceHost();
    const bounds = { folders: ['/tmp'], sessions: ['ahp-session:/a'] };
    const { id } = await admit({ role: 'viewer', bounds, until: '2090-01-01T00:00:00Z' });
    const change = (params: object) => owner.request('atrium/changeDevice', { id, ...params });
    const stored = async () => {
      const [{ role, bounds: within, expiresAt } = { role: undefined }] = await listed(owner);
      return JSON.parse(JSON.stringify({ role, bounds: within, expiresAt }));
    };
    const expiresAt = '2090-01-01T00:00:00.000Z';
    await change({ bounds: { folders: null } });
    expect(await stored()).toEqual({ role: 'viewer', bounds: { sessions: ['ahp-session:/a'] }, expiresAt });
    await change({ bounds: { folders: ['/var'] }, until: null });
    expect(await stored()).toEqual({ role: 'viewer', bounds: { sessions: ['ahp-session:/a'], folders: ['/var'] } });
    await change({ bounds: null, role: 'approver' });
    expect(await stored()).toEqual({ role: 'approver' });
    await change({ bounds: { folders: ['/tmp'] } });
    await change({ bounds: { folders: null } });
    expect(await stored()).toEqual({ role: 'approver' });
    expect(await log.record(`credential:${id}`)).not.toContain('bounds');
  });

  it.each([
    { role: null },
    { role: 'admin' },
    { until: 'yesterday' },
    { until: '2020-01-01T00:00:00Z' },
    { until: 0 },
    { bounds: 'all' },
    { bounds: { folder: ['/tmp'] } },
    { bounds: { folders: [] } },
    { bounds: { folders: ['relative'] } },
    { bounds: { sessions: [1] } },
    { name: null },
    { name: ' ' },
  ])('[DEV-013] nothing changes by what is not understood: %j', async (params) => {
    const { owner, admit } = await startDeviceHost();
    const { id } = await admit({ role: 'viewer', bounds: { folders: ['/tmp'] } });
    const before = await listed(owner);
    expect((await owner.ask('atrium/changeDevice', { id, ...params })).error?.code).toBe(-32602);
    expect(await listed(owner)).toEqual(before);
  });

  it('[DEV-013] [DEV-021] an owner within bounds or for some time takes neither away from others', async () => {
    const { owner, admit, host } = await startDeviceHost();
    const until = '2090-01-01T00:00:00Z';
    const own = { role: 'owner', bounds: { folders: ['/tmp'] }, until };
    const { token } = await admit(own);
    const { id } = await admit({ ...own, role: 'viewer' });
    const client = new RawClient();
    host.connect(client.transport, host.devices.accessOf(token));
    await client.initialize('bounded-owner');
    for (const params of [
      { bounds: null },
      { bounds: { folders: null } },
      { until: null },
      { bounds: { folders: ['/'] } },
    ])
      expect([params, (await client.ask('atrium/changeDevice', { id, ...params })).error?.code]).toEqual([
        params,
        -32009,
      ]);
    expect((await owner.ask('atrium/changeDevice', { id, bounds: null, until: null })).error).toBeUndefined();
  });

  it('[DEV-023] a change takes effect before a slow disk has stored it, and is taken back when it cannot', async () => {
    const log = new MemoryLog();
    const { owner, admit, host, open } = await startDeviceHost({ log });
    const { id, token } = await admit({ role: 'owner' });
    const socket = await open({ headers: bearer(token) });
    const closed = once(socket, 'close');
    const append = log.append.bind(log);
    const full = signal();
    log.append = async () => {
      await full.given;
      throw new Error('the disk is full');
    };
    const changed = owner.ask('atrium/changeDevice', { id, role: 'viewer' });
    expect((await closed)[0]).toBe(4008);
    expect(host.devices.accessOf(token)?.role).toBe('viewer');
    full.give();
    expect((await changed).error).toBeDefined();
    expect(host.devices.accessOf(token)?.role).toBe('owner');
    log.append = append;
  });

  it('[DEV-013] an owner for some time gives no more than that, and sees no device that has more', async () => {
    const { host, admit, owner } = await startDeviceHost();
    const { token } = await admit({ role: 'owner', until: '2090-01-01T00:00:00Z' });
    const free = await admit({ role: 'viewer' });
    const client = new RawClient();
    host.connect(client.transport, host.devices.accessOf(token));
    await client.initialize('for-some-time');
    const add = (params: object) => client.ask('atrium/addDevice', params);
    expect((await add({ role: 'viewer', until: '2089-01-01T00:00:00Z' })).error).toBeUndefined();
    expect((await add({})).error).toBeUndefined();
    expect((await add({ until: '2091-01-01T00:00:00Z' })).error?.code).toBe(-32009);
    expect((await listed(client)).map(({ role }) => role)).toEqual(['owner']);
    expect((await client.ask('atrium/removeDevice', { id: free.id })).error?.code).toBe(-32008);
    expect((await client.ask('atrium/rotateToken')).error?.code).toBe(-32009);
    expect(await listed(owner)).toHaveLength(2);
  });

  it.each([
    ['a folder below', { folders: ['/work/one/two'] }, true],
    ['the same', { folders: ['/work/one'] }, true],
    ['a session that is named', { sessions: ['ahp-session:/a'] }, true],
    ['a folder that begins like it', { folders: ['/work/onetwo'] }, false],
    ['the folder above', { folders: ['/work/one/..'] }, false],
    ['another session', { sessions: ['ahp-session:/b'] }, false],
    ['everything', undefined, false],
  ])('[DEV-013] within bounds, nobody gives beyond them: %s', (_, bounds, isFine) => {
    const own = { folders: ['/work/one'], sessions: ['ahp-session:/a'] };
    expect(isWithin({ role: 'viewer', bounds }, { ...OWNER, bounds: own })).toBe(isFine);
  });

  it('[DEV-053] nobody opens a way to a host that asks for no token: a tunnel may pass on any name', async () => {
    const { owner } = await startDeviceHost({ server: { policy: {} } });
    const asked = await owner.ask('atrium/reach', { origin: 'https://blue-sky.example.net' });
    expect(asked.error?.message).toContain('requires no token');
    const { owner: other } = await startDeviceHost();
    expect((await other.ask('atrium/reach', { origin: 'https://blue-sky.example.net' })).error).toBeUndefined();
  });

  it('[DEV-013] a code is over when the device that made it is removed', async () => {
    const { host, admit, owner, redeem } = await startDeviceHost();
    const { id, token } = await admit({ role: 'owner' });
    const client = new RawClient();
    host.connect(client.transport, host.devices.accessOf(token));
    await client.initialize('second-owner');
    const { code } = await client.request<{ code: string }>('atrium/addDevice', { role: 'owner' });
    await owner.request('atrium/removeDevice', { id });
    expect((await redeem(code)).status).toBe(401);
  });

  it.each<[object]>([
    [{ role: 'king' }],
    [{ until: 'soon' }],
    [{ until: '1999-01-01T00:00:00Z' }],
    [{ bounds: {} }],
    [{ bounds: { sessions: [] } }],
    [{ bounds: { folders: ['relative'] } }],
    [{ bounds: { sessions: Array.from({ length: 101 }, (_, index) => `s${index}`) } }],
    [{ name: 7 }],
  ])('[DEV-010] takes no %j', async (params) => {
    const { owner } = await startDeviceHost();
    expect((await owner.ask('atrium/addDevice', params)).error?.code).toBe(-32602);
  });
});
