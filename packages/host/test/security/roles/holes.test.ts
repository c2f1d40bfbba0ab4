/** What a bounded device could once reach by a side way, each closed: grants, claims, sums, contents by hash, stale lists. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Access } from '@atrium/core/contracts/access.js';
import { CLIENT_GRACE_MS } from '@atrium/core/sessions/limits.js';
import { REAL_PATHS_FRESH_MS } from '@atrium/core/wire/access-control.js';
import { type BudgetEntry, defaultChatUri, type SessionState } from '@atrium/protocol/ahp-1';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../support/fake-clock.js';
import { componentsOf } from '../../support/host-components.js';
import { nativeClient, nativeTurn, userMessage } from '../../support/native-client.js';
import { access, type RoleHost, roleHost, WIRES } from '../../support/role-fixture.js';
import { RawClient, settle } from '../../support/test-host.js';

const INSIDE = 'ahp-session:/inside';
const OUTSIDE = 'ahp-session:/outside';

describe('a way around bounds', () => {
  let host: RoleHost;
  let owner: RawClient;
  let top: string;
  const clock = new FakeClock(Date.UTC(2026, 10, 18, 12));
  const inTop = (...names: string[]) => path.join(top, ...names);
  const uri = (...names: string[]) => pathToFileURL(inTop(...names)).href;
  const byFolder = (role: Access['role']) => access(role, { bounds: { folders: [inTop('in')] } });
  const bySession = (role: Access['role']) => access(role, { bounds: { sessions: [INSIDE] } });

  beforeAll(async () => {
    top = await mkdtemp(path.join(tmpdir(), 'holes-'));
    for (const folder of ['in', 'out', 'data', 'granted']) await mkdir(inTop(folder));
    await writeFile(inTop('granted', 'file.txt'), 'granted');
    await writeFile(inTop('out', 'secret.txt'), 'secret');
    await writeFile(inTop('in', 'own.txt'), 'own');
    const limit = { tokens: 1_000_000 };
    const usage = { budgets: { session: limit, project: limit, day: limit } };
    host = await roleHost({ dataFolder: inTop('data'), clock, usage });
    owner = await nativeClient(host, 'owner');
    await owner.request('createSession', { channel: INSIDE, workingDirectories: [uri('in')] });
    await owner.request('createSession', { channel: OUTSIDE, workingDirectories: [uri('out')] });
    for (const session of [INSIDE, OUTSIDE]) {
      await owner.request('subscribe', { channel: session });
      await owner.request('subscribe', { channel: defaultChatUri(session) });
    }
  });

  afterAll(async () => {
    await host.stop();
    await rm(top, { recursive: true, force: true });
  });

  /** A device that was let in with a code, connected under this client id. */
  async function device(clientId: string): Promise<{ id: string; client: RawClient }> {
    const { devices } = componentsOf(host.host);
    const { code } = await owner.request<{ code: string }>('atrium/addDevice', { role: 'driver' });
    const redeemed = await devices.redeem({ code, name: 'Phone', isPrivate: true });
    if (redeemed.kind !== 'in') throw new Error(`not let in: ${redeemed.kind}`);
    const client = new RawClient();
    host.host.connect(client.transport, devices.accessOf(redeemed.device.token));
    await client.initialize(clientId, { protocolVersions: ['1.0.0'] });
    return { id: redeemed.device.id, client };
  }

  /** Asks for a folder, and has the owner say yes. */
  async function granted(client: RawClient): Promise<void> {
    await client.request('subscribe', { channel: INSIDE });
    const asked = client.request('resourceRequest', { channel: 'ahp-root://', uri: uri('granted') });
    await settle();
    const request = await vi.waitFor(async () => {
      const [entry] = (await owner.state<SessionState>(INSIDE)).inputNeeded ?? [];
      if (entry?.kind !== 'chatInput') throw new Error('nothing is asked');
      return entry;
    }, 10_000);
    const { chat, request: question } = request;
    owner.dispatch(chat, { type: 'chat/inputCompleted', requestId: question.id, response: 'accept' } as never);
    await asked;
  }

  const readGranted = (client: RawClient) =>
    client.ask('resourceRead', { channel: 'ahp-root://', uri: uri('granted', 'file.txt') });

  it('[DEV-007] [REL-014] access to files that its client was granted ends with the device, also for whoever has the client id next', async () => {
    const first = await device('shared-name');
    await granted(first.client);
    expect((await readGranted(first.client)).result).toMatchObject({ data: 'granted' });
    await owner.request('atrium/removeDevice', { id: first.id });
    await clock.advance(CLIENT_GRACE_MS + 1);
    const second = await device('shared-name');
    expect((await readGranted(second.client)).error).toBeDefined();
  });

  it('[DEV-007] a question whether its client may have files ends with the client, whenever that leaves', async () => {
    for (let turns = 0; turns < 20; turns++) {
      const { id, client } = await device(`leaving-${turns}`);
      await client.request('subscribe', { channel: INSIDE });
      client.ask('resourceRequest', { channel: 'ahp-root://', uri: uri('granted') }).catch(() => {});
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      client.disconnect();
      await owner.request('atrium/removeDevice', { id });
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await owner.state<SessionState>(INSIDE)).inputNeeded ?? []).toEqual([]);
  });

  it('[DEV-006] [REL-014] and with a client id that the owner releases', async () => {
    const { client } = await device('released-name');
    await granted(client);
    expect((await readGranted(client)).error).toBeUndefined();
    await owner.request('atrium/releaseClient', { clientId: 'released-name' });
    const next = await device('released-name');
    expect((await readGranted(next.client)).error).toBeDefined();
  });

  it('[DEV-021] a terminal is not claimed for a session out of bounds, and the refusal says what it says of one that never was', async () => {
    const client = await host.as(byFolder('driver'));
    const channel = 'ahp-terminal:/claimed';
    const claim = { kind: 'client', clientId: client.clientId };
    await client.request('createTerminal', { channel, claim, cwd: uri('in') });
    await vi.waitFor(() => client.request('subscribe', { channel }), 10_000);
    const claimed = async (session: string) => {
      const to = { kind: 'session', session, chat: defaultChatUri(session) };
      client.dispatch(channel, { type: 'terminal/claimed', claim: to } as never);
      const isIt = (action: object) => JSON.stringify(action).includes(`"${session}"`);
      const { rejectionReason = '' } = await client.action(channel, isIt);
      return rejectionReason.replaceAll(session, '…');
    };
    expect(await claimed(OUTSIDE)).toContain('there is no session');
    expect(await claimed(OUTSIDE)).toBe(await claimed('ahp-session:/neverwas'));
    expect(await claimed(INSIDE)).toBe('');
    await owner.request('disposeTerminal', { channel });
  });

  it('[DEV-021] [DEV-023] a terminal that a client opened elsewhere is not its own any more when it is bound to a folder', async () => {
    const credential = { kind: 'device', id: 'terminal-of-old', name: 'Phone' } as const;
    const before = await host.as(access('driver', { credential }));
    const { clientId } = before;
    const opened = async (name: string, folder: string) => {
      const channel = `ahp-terminal:/${name}`;
      await before.request('createTerminal', { channel, claim: { kind: 'client', clientId }, cwd: uri(folder) });
      await vi.waitFor(() => before.request('subscribe', { channel }), 10_000);
      return channel;
    };
    const [near, far] = [await opened('near', 'in'), await opened('far', 'out')];
    before.disconnect();
    const after = new RawClient();
    host.host.connect(after.transport, access('driver', { credential, bounds: { folders: [inTop('in')] } }));
    await after.initialize(clientId, { protocolVersions: ['1.0.0'] });
    expect((await after.ask('subscribe', { channel: near })).error).toBeUndefined();
    const [hidden, never] = [await after.ask('subscribe', { channel: far }), 'ahp-terminal:/never'];
    expect(hidden.error?.code).toBe((await after.ask('subscribe', { channel: never })).error?.code);
    expect(hidden.error).toBeDefined();
    expect((await after.ask('disposeTerminal', { channel: far })).error).toBeDefined();
    for (const channel of [near, far]) await owner.request('disposeTerminal', { channel });
  });

  it('[DEV-021] budgets within bounds are those of the session: what a day or a project used is about others, too', async () => {
    const scopes = async (client: RawClient) =>
      (await client.request<{ items: BudgetEntry[] }>('atrium/budgets', { session: INSIDE })).items.map(
        ({ scope }) => scope,
      );
    expect((await scopes(owner)).sort()).toEqual(['day', 'project', 'session']);
    for (const bounded of [byFolder('driver'), bySession('driver'), byFolder('owner')])
      expect(await scopes(await host.as(bounded))).toEqual(['session']);
  });

  it('[DEV-021] of an attachment that names two places, both are checked, however they are spelled', async () => {
    const client = await host.as(byFolder('driver'));
    const chat = defaultChatUri(INSIDE);
    const [own, secret] = [uri('in', 'own.txt'), uri('out', 'secret.txt')];
    const attached = [
      { type: 'resource', label: 'x', uri: secret, resource: own },
      { type: 'resource', label: 'x', uri: own, resource: secret },
      { type: 'resource', label: 'x', uri: secret.replace('file:', 'FILE:') },
      { type: 'chat', label: 'x', resource: chat, uri: defaultChatUri(OUTSIDE), endTurn: 't' },
    ];
    for (const attachment of attached) {
      const turnId = `t-${crypto.randomUUID()}`;
      const message = { ...userMessage('hello'), attachments: [attachment] };
      client.dispatch(chat, { type: 'chat/turnStarted', turnId, message } as never);
      const echo = await client.action(chat, ({ turnId: id }) => id === (turnId as never));
      expect([attachment, echo.rejectionReason]).toEqual([attachment, expect.stringContaining('there is no')]);
    }
  });

  /** Attaches a text to a message of the owner, and says by which URI it is named. */
  async function attached(session: string, text: string): Promise<string> {
    const piece = { name: 'a.txt', at: 0, text: Buffer.from(text).toString('base64'), isLast: true };
    const { attachment } = await owner.request<{ attachment: object }>('atrium/attach', piece);
    const chat = defaultChatUri(session);
    const turnId = `t-${crypto.randomUUID()}`;
    const message = { ...userMessage('look'), attachments: [attachment] };
    owner.dispatch(chat, { type: 'chat/turnStarted', turnId, message } as never);
    await owner.action(chat, ({ type, turnId: id }) => type === 'chat/turnComplete' && id === (turnId as never));
    return `atrium-content:/${createHash('sha256').update(text).digest('hex')}`;
  }

  it.each(WIRES.filter((wire) => wire !== '1'))(
    '[DEV-021] a content is read by its hash only where a session within bounds names it, on the wire %s',
    async (wire) => {
      const [inside, outside] = [`inside ${wire}`, `outside ${wire}`];
      const [near, far] = [await attached(INSIDE, inside), await attached(OUTSIDE, outside)];
      const never = `atrium-content:/${'a'.repeat(64)}`;
      const share = access('viewer', {
        bounds: { sessions: [INSIDE] },
        credential: { kind: 'share', id: `share-${wire}` },
      });
      for (const reader of [byFolder('viewer'), bySession('approver'), byFolder('driver'), share]) {
        const client = await host.as(reader, wire);
        const read = async (content: string) => {
          const { result, error } = await client.ask('resourceRead', { channel: 'ahp-root://', uri: content });
          return error ? { ...error, message: error.message.replaceAll(content, '…') } : result;
        };
        expect([reader.role, await read(near)]).toMatchObject([reader.role, { data: expect.any(String) }]);
        const hidden = await read(far);
        expect([reader.role, hidden]).toEqual([reader.role, await read(never)]);
        expect(hidden).toHaveProperty('code');
      }
      expect((await owner.ask('resourceRead', { channel: 'ahp-root://', uri: far })).error).toBeUndefined();
    },
  );

  it('[DEV-031] a share that leaves out attachments and output reads no content at all', async () => {
    const near = await attached(INSIDE, 'left out of a share');
    const leftOut = ['toolOutput', 'attachments'] as const;
    const credential = { kind: 'share', id: 'share-left-out' } as const;
    const client = await host.as(access('viewer', { bounds: { sessions: [INSIDE] }, leftOut, credential }));
    expect((await client.ask('resourceRead', { channel: 'ahp-root://', uri: near })).error).toBeDefined();
  });

  it.each(WIRES)(
    '[DEV-023] a session that leaves the bounds leaves the list of whoever only lists, on the wire %s',
    async (wire) => {
      const name = `leaving-${wire.replaceAll('.', '')}`;
      const session = `ahp-session:/${name}`;
      await mkdir(inTop('in', name));
      await owner.request('createSession', { channel: session, workingDirectories: [uri('in', name)] });
      await owner.request('subscribe', { channel: session });
      const root = wire === '1' ? {} : { initialSubscriptions: ['ahp-root://'] };
      const client = await host.as(byFolder('viewer'), wire, root);
      const listed = await client.request('listSessions', wire === '1' ? {} : { channel: 'ahp-root://' });
      expect(JSON.stringify(listed)).toContain(name);
      const other = `ahp-session:/other-${name}`;
      await owner.request('createSession', { channel: other, workingDirectories: [uri('out')] });
      await owner.request('subscribe', { channel: other });
      await rename(inTop('in', name), inTop('out', name));
      await symlink(inTop('out', name), inTop('in', name));
      await clock.advance(REAL_PATHS_FRESH_MS + 1);
      for (const each of [other, session])
        owner.dispatch(each, { type: 'session/titleChanged', title: 'somewhere else' } as never);
      await vi.waitFor(async () => {
        await clock.advance(1_000);
        const removed = client.received.filter((message) => JSON.stringify(message).includes('sessionRemoved'));
        expect(JSON.stringify(removed)).toContain(name);
      }, 10_000);
      expect(JSON.stringify(client.received)).not.toContain(`other-${name}`);
    },
  );

  it.each(WIRES)(
    '[DEV-023] bounds that are narrowed end what was listed and subscribed, on the wire %s',
    async (wire) => {
      const credential = { kind: 'device', id: `narrowed-${wire}` } as const;
      const folders = [inTop('in'), inTop('out')];
      const client = await host.as(access('viewer', { credential, bounds: { folders } }), wire);
      const list = (each: RawClient) => each.request('listSessions', wire === '1' ? {} : { channel: 'ahp-root://' });
      expect(JSON.stringify(await list(client))).toContain('outside');
      const heard = client.received.length;
      const narrowed = access('viewer', { credential, bounds: { sessions: [INSIDE] } });
      componentsOf(host.host).connections.changeAccess(credential.id, narrowed);
      expect(client.closed).toMatchObject({ code: 4008 });
      owner.dispatch(OUTSIDE, { type: 'session/titleChanged', title: `narrowed on ${wire}` } as never);
      await owner.action(OUTSIDE, (action) => JSON.stringify(action).includes(`narrowed on ${wire}`));
      expect(client.received.slice(heard)).toEqual([]);
      expect(JSON.stringify(await list(await host.as(narrowed, wire)))).not.toContain('outside');
    },
  );

  it('[DEV-021] what names a session is a text: anything else is refused before it is looked up', async () => {
    for (const client of [owner, await host.as(byFolder('driver')), await host.as(access('viewer'))])
      for (const name of [{ toString: 'x' }, [OUTSIDE], [[INSIDE]], 5, null, true]) {
        const { error } = await client.ask('atrium/instructions', { channel: name });
        expect([name, error?.code, error?.message]).toEqual([
          name,
          -32602,
          expect.stringContaining('/channel must be'),
        ]);
      }
  });

  it('[DEV-021] a turn of a session is told as before to whoever is within bounds', async () => {
    const client = await host.as(byFolder('viewer'));
    await client.request('subscribe', { channel: defaultChatUri(INSIDE) });
    const turnId = await nativeTurn(owner, defaultChatUri(INSIDE), 'still there');
    await client.action(defaultChatUri(INSIDE), ({ turnId: id }) => id === (turnId as never));
  });
});
