/** Attacks on bounds: what is out of bounds does not exist, by whatever name or wire it is asked for. */
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Access } from '@atrium/core/contracts/access.js';
import { annotationsChannel, defaultChatUri, REQUEST_RULES } from '@atrium/protocol/ahp-1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { componentsOf } from '../../support/host-components.js';
import { nativeClient, nativeTurn, userMessage } from '../../support/native-client.js';
import { access, type RoleHost, roleHost, WIRES } from '../../support/role-fixture.js';
import type { RawClient } from '../../support/test-host.js';

const INSIDE = 'ahp-session:/inside';
const OUTSIDE = 'ahp-session:/outside';
const NEVER = 'ahp-session:/neverwas';
const WORD = 'xylophone';

describe('bounds', () => {
  let host: RoleHost;
  let owner: RawClient;
  let top: string;
  const inTop = (...names: string[]) => path.join(top, ...names);
  const uri = (...names: string[]) => pathToFileURL(inTop(...names)).href;

  beforeAll(async () => {
    top = await mkdtemp(path.join(tmpdir(), 'bounds-'));
    for (const folder of ['in', 'in/below', 'out', 'data', 'in-beside']) await mkdir(inTop(folder));
    await writeFile(inTop('in', 'own.txt'), 'own');
    await writeFile(inTop('out', 'secret.txt'), 'secret');
    await symlink(inTop('out'), inTop('in', 'link'));
    host = await roleHost({ dataFolder: inTop('data') });
    owner = await nativeClient(host, 'owner');
    await owner.request('createSession', { channel: INSIDE, workingDirectories: [uri('in')] });
    await owner.request('createSession', { channel: OUTSIDE, workingDirectories: [uri('out')] });
    for (const session of [INSIDE, OUTSIDE]) {
      await owner.request('subscribe', { channel: session });
      await owner.request('subscribe', { channel: defaultChatUri(session) });
      await nativeTurn(owner, defaultChatUri(session), `${WORD} in ${session}`);
    }
  });

  afterAll(async () => {
    await host.stop();
    await rm(top, { recursive: true, force: true });
  });

  const bySession = (role: Access['role']) => access(role, { bounds: { sessions: [INSIDE] } });
  const byFolder = (role: Access['role']) => access(role, { bounds: { folders: [inTop('in')] } });
  const BOTH = ['sessions', 'folders'] as const;
  const bounded = (kind: (typeof BOTH)[number], role: Access['role']) =>
    kind === 'sessions' ? bySession(role) : byFolder(role);

  /** What an answer says, with the name replaced that was asked for. */
  const said = (message: unknown, name: string) =>
    JSON.stringify(message)
      .replaceAll(name, '…')
      .replace(/"id":\d+/, '');

  /** Asks about what is there but out of bounds, and about what never was: both answers are the same bytes. */
  async function sameAnswer(client: RawClient, method: string, params: (session: string) => object): Promise<void> {
    const hidden = await client.ask(method, params(OUTSIDE));
    const never = await client.ask(method, params(NEVER));
    expect([method, said(hidden, key(OUTSIDE))]).toEqual([method, said(never, key(NEVER))]);
    expect([method, hidden.error !== undefined]).toEqual([method, true]);
  }
  const key = (session: string) => session.slice('ahp-session:/'.length);

  it.each(BOTH)('[DEV-021] listSessions has nothing else, bounded by %s, on any wire', async (kind) => {
    for (const wire of WIRES) {
      const client = await host.as(bounded(kind, 'viewer'), wire);
      const listed = JSON.stringify(
        await client.request('listSessions', wire === '1' ? {} : { channel: 'ahp-root://' }),
      );
      expect([wire, listed.includes('inside'), listed.includes('outside')]).toEqual([wire, true, false]);
    }
  });

  it('[DEV-021] a page of the list is as long as it was asked for, and its cursor leads on within the bounds', async () => {
    const client = await host.as(access('viewer', { bounds: { folders: [inTop('in'), inTop('out')] } }));
    const first = await client.request<{ items: { resource: string }[]; nextCursor: string }>('listSessions', {
      channel: 'ahp-root://',
      limit: 1,
    });
    const second = await client.request<{ items: object[]; nextCursor?: string }>('listSessions', {
      channel: 'ahp-root://',
      limit: 1,
      cursor: first.nextCursor,
    });
    expect([first.items.length, second.items.length, second.nextCursor]).toEqual([1, 1, undefined]);
  });

  it.each(BOTH)(
    '[DEV-021] every request that names a session answers as for one that never was, bounded by %s',
    async (kind) => {
      const client = await host.as(bounded(kind, 'owner'));
      const named = Object.entries(REQUEST_RULES).filter(([, { bounds }]) => typeof bounds !== 'string');
      expect(named.length).toBeGreaterThan(8);
      for (const [method] of named) {
        const forms = [(session: string) => session, defaultChatUri, annotationsChannel];
        for (const form of forms) await sameAnswerOf(client, method, form);
      }
    },
  );

  async function sameAnswerOf(client: RawClient, method: string, form: (session: string) => string): Promise<void> {
    const params = (session: string) => ({
      ...{
        channel: form(session),
        session: form(session),
        kind: 'userMessage',
        text: '@',
        offset: 1,
        operationId: 'x',
      },
      ...{ chat: 'ahp-chat:/new', pinned: true, turnId: 't', what: 'both' },
    });
    const hidden = await client.ask(method, params(OUTSIDE));
    const never = await client.ask(method, params(NEVER));
    expect([method, said(hidden, form(OUTSIDE))]).toEqual([method, said(never, form(NEVER))]);
    expect([method, hidden.error !== undefined]).toEqual([method, true]);
  }

  it.each(WIRES)('[DEV-021] subscribing on the wire %s answers as for a session that never was', async (wire) => {
    const client = await host.as(byFolder('viewer'), wire);
    await sameAnswer(client, 'subscribe', (session) =>
      wire === '1' ? { resource: session.replace('ahp-session', 'mock') } : { channel: session },
    );
    await sameAnswer(client, 'fetchTurns', (session) =>
      wire === '1'
        ? { session: session.replace('ahp-session', 'mock'), startTurn: 0, count: 1 }
        : { channel: session, limit: 1 },
    );
  });

  it('[DEV-021] neither its chats, annotations, changes nor contents exist', async () => {
    const client = await host.as(byFolder('driver'));
    await sameAnswerOf(client, 'subscribe', defaultChatUri);
    await sameAnswerOf(client, 'subscribe', annotationsChannel);
    await sameAnswerOf(client, 'subscribe', (session) => `ahp-changeset:/${key(session)}/session`);
    await sameAnswer(client, 'resourceRead', (session) => ({
      channel: 'ahp-root://',
      uri: `atrium-changes:/${key(session)}/${'a'.repeat(64)}`,
    }));
  });

  it('[DEV-021] subscriptions of a handshake leave it out, and a reconnect calls it missing, as one that never was', async () => {
    for (const wire of ['1.0.0', '0.5.0', '0.3.0'] as const) {
      const client = await host.as(byFolder('viewer'), wire, {
        initialSubscriptions: ['ahp-root://', INSIDE, OUTSIDE, NEVER],
      });
      expect(JSON.stringify(client.received)).not.toContain('outside');
      const again = host.connect();
      client.disconnect();
      again.disconnect();
    }
  });

  it('[DEV-021] [DEV-023] a reconnect with other bounds replays nothing of what was subscribed before', async () => {
    const before = await host.as(access('viewer'), '1.0.0', {
      initialSubscriptions: ['ahp-root://', OUTSIDE, defaultChatUri(OUTSIDE)],
    });
    const seen = Number(
      (await before.request<{ serverSeq?: number }>('listSessions', { channel: 'ahp-root://' })).serverSeq ?? 0,
    );
    before.disconnect();
    await nativeTurn(owner, defaultChatUri(OUTSIDE), `${WORD} while away`);
    const { RawClient: Raw } = await import('../../support/test-host.js');
    const after = new Raw();
    host.host.connect(after.transport, byFolder('viewer'));
    const subscriptions = ['ahp-root://', OUTSIDE, defaultChatUri(OUTSIDE)];
    const resume = { channel: 'ahp-root://', clientId: before.clientId, lastSeenServerSeq: seen, subscriptions };
    expect((await after.ask('reconnect', resume)).error?.message).toContain('send initialize instead');
    const begin = { protocolVersions: ['1.0.0'], initialSubscriptions: subscriptions };
    expect(JSON.stringify(await after.initialize(before.clientId, begin))).not.toContain('while away');
    expect(JSON.stringify(await after.ask('reconnect', resume))).not.toContain('while away');
    await nativeTurn(owner, defaultChatUri(OUTSIDE), `${WORD} when back`);
    expect(JSON.stringify(after.received)).not.toContain('when back');
  });

  it.each(WIRES)(
    '[DEV-021] nobody is told of it on the wire %s: neither that it is there, nor what changes, nor that it is gone',
    async (wire) => {
      const client = await host.as(byFolder('viewer'), wire);
      const session = `ahp-session:/outside-${wire.replaceAll('.', '')}`;
      await owner.request('createSession', { channel: session, workingDirectories: [uri('out')] });
      await owner.request('subscribe', { channel: session });
      owner.dispatch(session, { type: 'session/titleChanged', title: 'outside title' } as never);
      await owner.action(session, 'session/titleChanged');
      await owner.request('disposeSession', { channel: session });
      await client.ask('listSessions', wire === '1' ? {} : { channel: 'ahp-root://' });
      expect(JSON.stringify(client.received)).not.toContain('outside');
    },
  );

  it('[DEV-021] search finds nothing of it, also when it is named, and says the same as for words that nobody wrote', async () => {
    const client = await host.as(byFolder('viewer'));
    const search = (params: object) => client.request<{ items: object[] }>('atrium/search', { query: WORD, ...params });
    expect(JSON.stringify(await search({}))).not.toContain('outside');
    const hidden = await search({ channel: OUTSIDE });
    expect(hidden).toEqual(await search({ channel: NEVER }));
    expect(hidden.items).toEqual([]);
  });

  it('[DEV-021] an action for it is as silent as one for a session that never was', async () => {
    const client = await host.as(byFolder('owner'));
    client.dispatch(OUTSIDE, { type: 'session/titleChanged', title: 'taken over' } as never);
    client.dispatch(NEVER, { type: 'session/titleChanged', title: 'taken over' } as never);
    await client.ask('listSessions', { channel: 'ahp-root://' });
    expect(client.received.filter(({ method }) => method === 'action')).toEqual([]);
    expect(JSON.stringify(await owner.request('listSessions', { channel: 'ahp-root://' }))).not.toContain('taken over');
  });

  it('[DEV-021] files out of bounds are refused like those that nobody offers, also behind a link, by dots and by encoding', async () => {
    const client = await host.as(byFolder('driver'));
    const read = async (file: string) => {
      const { error, result } = await client.ask('resourceRead', { channel: 'ahp-root://', uri: file });
      return error ? { code: error.code } : result;
    };
    expect(await read(uri('in', 'own.txt'))).toMatchObject({ data: 'own' });
    const refused = await read(uri('elsewhere', 'secret.txt'));
    expect(await read(uri('out', 'secret.txt'))).toEqual(refused);
    expect(await read(uri('in', 'link', 'secret.txt'))).toHaveProperty('code');
    expect(await read(`${uri('in')}/../out/secret.txt`)).toHaveProperty('code');
    expect(await read(`${uri('in')}/%2e%2e/out/secret.txt`)).toHaveProperty('code');
    expect(await read(uri('in-beside', 'secret.txt'))).toEqual(refused);
    for (const method of ['resourceList', 'resourceResolve', 'createResourceWatch', 'resourceDelete'])
      expect((await client.ask(method, { channel: 'ahp-root://', uri: uri('out') })).error).toBeDefined();
  });

  it('[DEV-021] no session and no terminal begins out of bounds, wherever the folder is named', async () => {
    const client = await host.as(byFolder('driver'));
    const create = (params: object) => client.ask('createSession', { channel: 'ahp-session:/made', ...params });
    for (const folder of ['out', 'in/link', 'in-beside', 'nowhere', 'in/../out'])
      expect((await create({ workingDirectories: [`${uri()}/${folder}`] })).error?.message).toContain(
        'there is no folder',
      );
    expect((await create({ workingDirectories: [uri('in'), uri('out')] })).error).toBeDefined();
    expect((await create({ config: { folder: inTop('out') } })).error).toBeDefined();
    expect((await create({})).error?.message).toContain('name a folder');
    expect(
      (await create({ workingDirectories: [uri('in')], fork: { session: OUTSIDE, turnId: 't' } })).error,
    ).toBeDefined();
    const terminal = (params: object) => client.ask('createTerminal', { channel: 'ahp-terminal:/x', ...params });
    const claim = { kind: 'client', clientId: client.clientId };
    expect((await terminal({ claim, cwd: uri('out') })).error?.message).toContain('there is no folder');
    expect(
      (await terminal({ claim: { kind: 'session', session: OUTSIDE, chat: defaultChatUri(OUTSIDE) } })).error,
    ).toBeDefined();
    expect((await terminal({ claim })).error?.message).toContain('name a folder');
    expect((await create({ workingDirectories: [uri('in', 'below')] })).error).toBeUndefined();
    expect(JSON.stringify(await client.request('listSessions', { channel: 'ahp-root://' }))).toContain('made');
  });

  it('[DEV-021] a transcript, a file or a folder out of bounds cannot be brought into a session within them', async () => {
    const client = await host.as(byFolder('driver'));
    const chat = defaultChatUri(INSIDE);
    const attached = [
      { type: 'chat', label: 'x', resource: defaultChatUri(OUTSIDE) },
      { type: 'resource', label: 'x', uri: uri('out', 'secret.txt') },
      { type: 'annotations', label: 'x', resource: annotationsChannel(OUTSIDE) },
    ];
    for (const attachment of attached) {
      const turnId = `t-${crypto.randomUUID()}`;
      const message = { ...userMessage('hello'), attachments: [attachment] };
      client.dispatch(chat, { type: 'chat/turnStarted', turnId, message } as never);
      const echo = await client.action(chat, ({ turnId: id }) => id === (turnId as never));
      expect(echo.rejectionReason).toContain('there is no');
    }
    client.dispatch(INSIDE, { type: 'session/workingDirectorySet', directory: uri('out') } as never);
    expect((await client.action(INSIDE, 'session/workingDirectorySet')).rejectionReason).toContain(
      'there is no folder',
    );
  });

  it('[DEV-021] telemetry, automations and what is about the whole host do not exist within bounds, also not for an owner', async () => {
    const client = await host.as(byFolder('owner'));
    for (const channel of ['ahp-otlp://logs', 'ahp-automations://', 'ahp-automation-run:/x'])
      expect([channel, (await client.ask('subscribe', { channel })).error !== undefined]).toEqual([channel, true]);
    const about = [
      'atrium/usage',
      'atrium/projects',
      'atrium/listDisposed',
      'atrium/settings',
      'atrium/pairings',
      'atrium/findImports',
      'atrium/board',
    ];
    for (const method of about) expect((await client.ask(method, {})).error?.code).toBe(-32009);
  });

  it('[DEV-021] the root has neither the settings of the host nor terminals and numbers of sessions out of bounds', async () => {
    const client = await host.as(byFolder('driver'), '1.0.0', { initialSubscriptions: [] });
    const { snapshot } = await client.request<{ snapshot: { state: object } }>('subscribe', { channel: 'ahp-root://' });
    expect(snapshot.state).not.toHaveProperty('config');
    expect(snapshot.state).not.toHaveProperty('activeSessions');
    owner.dispatch('ahp-root://', { type: 'root/configChanged', config: { autoApprove: false } } as never);
    await owner.ask('listSessions', { channel: 'ahp-root://' });
    expect(JSON.stringify(client.received)).not.toContain('autoApprove');
  });

  it('[DEV-021] [DEV-023] a session that moves out of bounds ends there, and one in a folder that became a link is gone', async () => {
    await mkdir(inTop('in', 'moving'));
    const session = 'ahp-session:/moving';
    await owner.request('createSession', { channel: session, workingDirectories: [uri('in', 'moving')] });
    const client = await host.as(byFolder('viewer'), '1.0.0');
    await client.request('subscribe', { channel: session });
    await rename(inTop('in', 'moving'), inTop('out', 'moved'));
    await symlink(inTop('out', 'moved'), inTop('in', 'moving'));
    await expect
      .poll(async () => (await client.ask('subscribe', { channel: session })).error?.code, { timeout: 5_000 })
      .toBe(-32001);
  });

  it('[DEV-023] bounds that are narrowed end subscriptions at once, on an open connection', async () => {
    const client = await host.as(access('viewer', { credential: { kind: 'device', id: 'narrowed' } }));
    const chat = defaultChatUri(OUTSIDE);
    await client.request('subscribe', { channel: chat });
    const { connections } = componentsOf(host.host);
    connections.changeAccess(
      'narrowed',
      access('viewer', { bounds: { sessions: [INSIDE] }, credential: { kind: 'device', id: 'narrowed' } }),
    );
    await nativeTurn(owner, chat, `${WORD} after narrowing`);
    expect(JSON.stringify(client.received)).not.toContain('after narrowing');
    expect(client.closed).toMatchObject({ code: 4008 });
  });
});
