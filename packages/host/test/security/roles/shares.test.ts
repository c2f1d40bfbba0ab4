/** Shares from the outside: made, listed, read with the token of the link, counted, ended, and over in time and after a restart. */

import { once } from 'node:events';
import {
  type MadeShare,
  SHARE_DEFAULT_MS,
  SHARE_MAX_MS,
  type ShareList,
  shareLink,
  shareTokenIn,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { scriptedAgent } from '../../../../agents/src/scripted/backend.js';
import { openSqliteLog } from '../../../src/log-sqlite/sqlite-log.js';
import { startDeviceHost } from '../../support/device-fixture.js';
import { componentsOf } from '../../support/host-components.js';
import { tempFolder } from '../../support/temp-folder.js';
import { DEFAULT_SCRIPT, RawClient } from '../../support/test-host.js';

const SESSION = 'ahp-session:/shared';

async function sharedHost(options: Parameters<typeof startDeviceHost>[0] = {}) {
  const agents = [scriptedAgent(DEFAULT_SCRIPT)];
  const fixture = await startDeviceHost({ ...options, host: { agents } });
  const { owner } = fixture;
  const has = JSON.stringify(await owner.request('listSessions', { channel: 'ahp-root://' })).includes(SESSION);
  if (!has) await owner.request('createSession', { channel: SESSION });
  const make = (params: object = {}) =>
    owner.request<MadeShare & Record<string, unknown>>('atrium/shareSession', { session: SESSION, ...params });
  const list = async () => (await owner.request<ShareList & Record<string, unknown>>('atrium/shares', {})).items;
  return { ...fixture, make, list };
}

/** What a reader of a link gets: the names of all sessions on the list. */
async function read(socket: WebSocket): Promise<string> {
  const answered = (id: number) =>
    new Promise<string>((resolve) =>
      socket.on('message', (data) => String(data).includes(`"id":${id},`) && resolve(String(data))),
    );
  const send = (id: number, method: string, params: object) => {
    const answer = answered(id);
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return answer;
  };
  const clientId = `reader-${crypto.randomUUID()}`;
  await send(1, 'initialize', {
    channel: 'ahp-root://',
    protocolVersions: ['1.0.0'],
    clientId,
    initialSubscriptions: [],
  });
  return send(2, 'listSessions', { channel: 'ahp-root://' });
}

describe('a share', () => {
  it('[DEV-030] is a viewer of one session with a token of its own, for a day unless its maker says otherwise', async () => {
    const { make, list, open, log } = await sharedHost();
    const before = Date.now();
    const share = await make();
    expect(share.token).toMatch(/^[\w-]{43}$/);
    expect(Date.parse(share.expiresAt) - before).toBeGreaterThanOrEqual(SHARE_DEFAULT_MS);
    expect(Date.parse(share.expiresAt) - before).toBeLessThan(SHARE_DEFAULT_MS + 60_000);
    const socket = await open({ headers: { authorization: `Bearer ${share.token}` } });
    expect(await read(socket)).toContain(SESSION);
    expect((await list())[0]).toMatchObject({ id: share.id, session: SESSION, viewers: 1 });
    expect(JSON.stringify(await list())).not.toContain(share.token);
    expect(JSON.stringify(await log.records(''))).not.toContain(share.token);
  });

  it('[DEV-030] [DEV-013] does not outlive the time of its maker, whatever they ask for', async () => {
    const { host, admit, list, owner } = await sharedHost();
    const end = Date.now() + 3_600_000;
    const { id, token } = await admit({ role: 'owner', until: new Date(end).toISOString() });
    const maker = new RawClient();
    host.connect(maker.transport, host.devices.accessOf(token));
    await maker.initialize('timed-maker');
    for (const until of [undefined, new Date(end + 60_000).toISOString()])
      await maker.request('atrium/shareSession', { session: SESSION, ...(until && { until }) });
    const shorter = new Date(end - 60_000).toISOString();
    await maker.request('atrium/shareSession', { session: SESSION, until: shorter });
    const ends = async () => (await list()).map(({ expiresAt }) => Date.parse(expiresAt));
    expect(await ends()).toEqual([end, end, end - 60_000]);
    const earlier = end - 120_000;
    await owner.request('atrium/changeDevice', { id, until: new Date(earlier).toISOString() });
    await expect.poll(ends).toEqual([earlier, earlier, earlier]);
  });

  it.each([
    ['removed', 'atrium/removeDevice', {}],
    ['not an owner any more', 'atrium/changeDevice', { role: 'driver' }],
    ['bound to a folder', 'atrium/changeDevice', { bounds: { folders: ['/tmp'] } }],
  ])(
    '[DEV-030] [DEV-007] ends when the device that made it is %s, and no other share does',
    async (_what, method, params) => {
      const { host, admit, list, make, open, owner } = await sharedHost();
      const own = await make();
      const { id, token } = await admit({ role: 'owner' });
      const maker = new RawClient();
      host.connect(maker.transport, host.devices.accessOf(token));
      await maker.initialize('maker-that-leaves');
      const share = await maker.request<MadeShare & Record<string, unknown>>('atrium/shareSession', {
        session: SESSION,
      });
      const socket = await open({ headers: { authorization: `Bearer ${share.token}` } });
      const closed = once(socket, 'close');
      await owner.request(method, { id, ...params });
      expect((await closed)[0]).toBe(4007);
      expect((await list()).map((each) => each.id)).toEqual([own.id]);
    },
  );

  it('[DEV-030] lasts 30 days at most, and not into the past; leaves out only what there is', async () => {
    const { make, owner } = await sharedHost();
    const until = (ms: number) => new Date(Date.now() + ms).toISOString();
    await make({ until: until(SHARE_MAX_MS - 1_000) });
    for (const wrong of [until(SHARE_MAX_MS + 60_000), until(-1), 'tomorrow', 5])
      await expect(make({ until: wrong })).rejects.toThrow('/until');
    await expect(make({ leftOut: ['everything'] })).rejects.toThrow('/leftOut');
    await expect(make({ session: 'ahp-session:/never' })).rejects.toThrow('there is no session');
    expect((await make({ leftOut: ['fileContents'] })).leftOut).toEqual(['toolInput', 'toolOutput', 'fileContents']);
    expect((await owner.ask('atrium/endShare', { id: 'share-none' })).error?.code).toBe(-32008);
  });

  it('[DEV-030] that is ended cuts its readers off at once, and its token is worth nothing', async () => {
    const { make, owner, open, upgrade, list } = await sharedHost();
    const share = await make();
    const headers = { authorization: `Bearer ${share.token}` };
    const socket = await open({ headers });
    await read(socket);
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    await owner.request('atrium/endShare', { id: share.id });
    expect(await closed).toBe(4007);
    expect(await upgrade({ headers })).toBe(401);
    expect(await list()).toEqual([]);
  });

  it('[DEV-030] is not ended by the method of devices, nor a device by that of shares', async () => {
    const { make, owner, admit } = await sharedHost();
    const [share, device] = [await make(), await admit()];
    expect((await owner.ask('atrium/endShare', { id: device.id })).error).toBeDefined();
    expect((await owner.ask('atrium/removeDevice', { id: share.id })).error).toBeDefined();
  });

  it('[DEV-030] survives a restart with its bounds and what was left out', async () => {
    const dataDir = await tempFolder();
    const first = await sharedHost({ log: await openSqliteLog({ dataDir }) });
    const share = await first.make({ leftOut: ['reasoning'] });
    await first.stop();
    const again = await sharedHost({ log: await openSqliteLog({ dataDir }) });
    const access = componentsOf(again.host).devices.accessOf(share.token);
    expect(access).toMatchObject({ role: 'viewer', bounds: { sessions: [SESSION] }, leftOut: ['reasoning'] });
    expect(await again.upgrade({ headers: { authorization: `Bearer ${share.token}` } })).toBe(101);
  });

  it('[DEV-032] a device that is no owner, and a share, can neither make, list nor end shares', async () => {
    const { make, admit, open } = await sharedHost();
    const share = await make();
    const { token } = await admit({ role: 'driver' });
    for (const each of [token, share.token]) {
      const socket = await open({ headers: { authorization: `Bearer ${each}` } });
      const answers: string[] = [];
      socket.on('message', (data) => answers.push(String(data)));
      await read(socket);
      for (const [id, method] of [
        [7, 'atrium/shareSession'],
        [8, 'atrium/shares'],
        [9, 'atrium/endShare'],
        [6, 'atrium/devices'],
      ] as const)
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params: { session: SESSION, id: share.id } }));
      await expect.poll(() => answers.filter((text) => text.includes('-32009')).length).toBe(4);
    }
  });

  it('[DEV-030] has a link whose secret is in the fragment, and nothing else is taken for one', () => {
    const token = 'a'.repeat(43);
    const link = new URL(shareLink('https://host.example:8443/', token));
    expect([link.search, link.pathname, shareTokenIn(link.hash)]).toEqual(['', '/', token]);
    for (const hash of [
      '#share=',
      '#share=short',
      `#share=${token}&x=1`,
      `#token=${token}`,
      `#share=${token}<`,
      `?share=${token}`,
    ])
      expect(shareTokenIn(hash)).toBeUndefined();
  });
});
