/**
 * Ways to what is out of bounds that lead beside the sessions themselves: telemetry, exports, imports, completions, search, usage,
 * the files of the host. Each credential tries each of them on each wire; the secret never comes, and nothing is changed.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Access } from '@atrium/core/contracts/access.js';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nativeClient, nativeTurn } from '../../support/native-client.js';
import { access, type RoleHost, roleHost, WIRES, type Wire } from '../../support/role-fixture.js';
import type { RawClient } from '../../support/test-host.js';

const INSIDE = 'ahp-session:/inside';
const OUTSIDE = `ahp-session:/${crypto.randomUUID()}`;
const SECRET = 'zanzibar';
const CHANGING = new Set(['disposeSession', 'createSession', 'createChat', 'atrium/importSession', 'resourceCopy']);

describe('a way beside the sessions', () => {
  let host: RoleHost;
  let owner: RawClient;
  let top: string;
  const inTop = (...names: string[]) => path.join(top, ...names);
  const uri = (...names: string[]) => pathToFileURL(inTop(...names)).href;

  beforeAll(async () => {
    top = await mkdtemp(path.join(tmpdir(), 'sides-'));
    for (const folder of ['in', SECRET, 'data']) await mkdir(inTop(folder));
    await writeFile(inTop(SECRET, `${SECRET}.txt`), SECRET);
    await writeFile(inTop('data', 'wire.log'), SECRET);
    await writeFile(inTop('data', 'connection-token'), SECRET);
    host = await roleHost({ dataFolder: inTop('data') });
    owner = await nativeClient(host, 'owner');
    for (const [session, folder, word] of [
      [INSIDE, 'in', 'harmless'],
      [OUTSIDE, SECRET, SECRET],
    ] as const) {
      await owner.request('createSession', { channel: session, workingDirectories: [uri(folder)] });
      await owner.request('subscribe', { channel: session });
      await owner.request('subscribe', { channel: defaultChatUri(session) });
      await nativeTurn(owner, defaultChatUri(session), `${word} was said`);
      owner.dispatch(session, { type: 'session/titleChanged', title: `${word} title` } as never);
    }
    await owner.action(OUTSIDE, 'session/titleChanged');
  });

  afterAll(async () => {
    await host.stop();
    await rm(top, { recursive: true, force: true });
  });

  const device = (role: Access['role'], bounds: () => Access['bounds']) => () => access(role, { bounds: bounds() });
  const sessions = () => ({ sessions: [INSIDE] });
  const folders = () => ({ folders: [inTop('in')] });
  const share = (leftOut: Access['leftOut']) => () =>
    access('viewer', { bounds: sessions(), leftOut, credential: { kind: 'share', id: `share-${leftOut?.length}` } });

  /** Who sees the one session only. */
  const BOUNDED: Readonly<Record<string, () => Access>> = {
    'a viewer of a session': device('viewer', sessions),
    'an approver of a session': device('approver', sessions),
    'a driver of a session': device('driver', sessions),
    'a driver of a folder': device('driver', folders),
    'an owner of a folder': device('owner', folders),
    'a share': share([]),
    'a share that leaves things out': share(['toolInput', 'toolOutput', 'fileContents', 'folders']),
  };

  /** A name under every word that a wire has for it. */
  const named = (name: string) => ({ channel: name, session: name, resource: name, uri: name, chat: name });
  const ROOT = { channel: 'ahp-root://', resource: 'agenthost:/root' };

  /** Requests that do not name what they are after. */
  const UNNAMED: Readonly<Record<string, () => readonly [method: string, params: object][]>> = {
    'the list': () => [['listSessions', ROOT]],
    search: () => [
      ['atrium/search', { ...ROOT, query: SECRET }],
      ['atrium/search', { query: '"was said"', limit: 50 }],
      ['atrium/search', { query: 'title', folder: uri() }],
    ],
    usage: () => ['session', 'project', 'day', 'model'].map((by) => ['atrium/usage', { ...ROOT, by }]),
    budgets: () => [['atrium/budgets', ROOT]],
    imports: () => [
      ['atrium/findImports', {}],
      ['atrium/importFound', { id: 'x', ids: ['x'] }],
      ['atrium/listDisposed', {}],
    ],
    'settings and projects': () =>
      ['settings', 'projects', 'permissions', 'devices', 'shares', 'pairings', 'notifications', 'reach'].map((name) => [
        `atrium/${name}`,
        {},
      ]),
    automations: () => [
      ['fetchAutomationRuns', { channel: 'ahp-automations://' }],
      ['listAutomationTriggerDefinitions', { channel: 'ahp-automations://' }],
      ['subscribe', named('ahp-automations://')],
    ],
    telemetry: () => ['logs', 'traces', 'metrics', ''].map((kind) => ['subscribe', named(`ahp-otlp://${kind}`)]),
    'completions of files': () => [
      ['completions', { ...named(INSIDE), kind: 'userMessage', text: '@../', offset: 4 }],
      ['completions', { ...named(defaultChatUri(INSIDE)), kind: 'userMessage', text: `@${top}/`, offset: 99 }],
      ['sessionConfigCompletions', { ...ROOT, property: 'folder', query: top }],
      ['resolveSessionConfig', { ...ROOT, provider: 'mock', config: {} }],
      ['atrium/lastChoice', { folder: uri() }],
      ['atrium/completions', { workingDirectory: uri(), text: '@', offset: 1 }],
      ['atrium/completions', { text: '@', offset: 1 }],
    ],
    'files of the host': () =>
      ['wire.log', 'connection-token', 'atrium.db', ''].flatMap((name) => [
        ['resourceRead', { ...ROOT, uri: uri('data', name) }],
        ['resourceList', { ...ROOT, uri: uri('data', name) }],
        ['resourceCopy', { ...ROOT, source: uri('data', name), destination: uri('in', 'copy') }],
      ]),
  };

  /** Requests that name the session, its chat, or where it works. */
  const NAMED: Readonly<Record<string, () => readonly [method: string, params: object][]>> = {
    export: () =>
      [OUTSIDE, defaultChatUri(OUTSIDE)].flatMap((name) =>
        [
          ...[
            'fetchTurns',
            'subscribe',
            'atrium/chatTurns',
            'atrium/chats',
            'atrium/annotations',
            'atrium/rewindPreview',
          ],
          ...[
            'atrium/instructions',
            'atrium/keepContent',
            'atrium/proposeCommit',
            'atrium/pullRequest',
            'atrium/budgets',
          ],
        ].map((method): [string, object] => [
          method,
          { ...named(name), limit: 9, startTurn: 0, count: 9, turnId: 't' },
        ]),
      ),
    'search in it': () => [
      ['atrium/search', { query: 'said', ...named(OUTSIDE) }],
      ['atrium/search', { query: 'said', sessions: [OUTSIDE], session: OUTSIDE }],
    ],
    'usage of it': () => [['atrium/usage', { ...named(OUTSIDE), by: 'session', sessions: [OUTSIDE] }]],
    'completions in it': () => [
      ['completions', { ...named(OUTSIDE), kind: 'userMessage', text: '@', offset: 1 }],
      ['completions', { ...named(defaultChatUri(OUTSIDE)), kind: 'userMessage', text: '/', offset: 1 }],
    ],
    'a fork of it': () => [
      ['createSession', { ...named('ahp-session:/stolen'), fork: { session: OUTSIDE, turnId: 't' } }],
      ['createChat', { ...named(INSIDE), chat: 'ahp-chat:/stolen', source: { chat: defaultChatUri(OUTSIDE) } }],
    ],
    'an import over it': () => [
      ['atrium/importSession', { ...named(OUTSIDE), turns: [], title: 'taken over' }],
      ['atrium/restoreSession', named(OUTSIDE)],
      ['disposeSession', named(OUTSIDE)],
    ],
  };

  async function tried(client: RawClient, requests: readonly (readonly [string, object])[]): Promise<string> {
    const before = client.received.length;
    for (const [method, params] of requests) await client.ask(method, params);
    return JSON.stringify(client.received.slice(before));
  }

  const attacks = (table: Readonly<Record<string, unknown>>) =>
    Object.keys(BOUNDED).flatMap((who) => Object.keys(table).map((way) => [who, way] as const));

  it.each(attacks(UNNAMED))('[DEV-021] [DEV-032] %s gets nothing by %s, on any wire', async (who, way) => {
    for (const wire of WIRES) {
      const client = await host.as((BOUNDED[who] as () => Access)(), wire);
      const heard = await tried(client, UNNAMED[way]?.() ?? []);
      // Names that were asked for come back in refusals.
      const asked = JSON.stringify(UNNAMED[way]?.()).includes(SECRET);
      const told = asked ? heard.replaceAll(`"${SECRET}"`, '') : heard;
      expect([wire, told.includes(SECRET), told.includes(OUTSIDE.slice(13))]).toEqual([wire, false, false]);
    }
  });

  it.each(attacks(NAMED))('[DEV-021] [DEV-032] %s gets and changes nothing by %s, on any wire', async (who, way) => {
    for (const wire of WIRES) {
      const client = await host.as((BOUNDED[who] as () => Access)(), wire);
      expect([wire, (await tried(client, NAMED[way]?.() ?? [])).includes(SECRET)]).toEqual([wire, false]);
    }
    const listed = JSON.stringify(await owner.request('listSessions', { channel: 'ahp-root://' }));
    expect([listed.includes(`${SECRET} title`), listed.includes('stolen'), listed.includes('taken over')]).toEqual([
      ...[true, false, false],
    ]);
  });

  it('[DEV-021] [DEV-032] the owner gets something by these ways: they lead somewhere', async () => {
    const got: string[] = [];
    for (const [way, requests] of [...Object.entries(UNNAMED), ...Object.entries(NAMED)]) {
      const client = await host.as(access('owner'));
      const asked = requests().filter(([method]) => !CHANGING.has(method));
      if ((await tried(client, asked)).replaceAll(`"${SECRET}"`, '').includes(SECRET)) got.push(way);
    }
    expect(got).toEqual(['the list', 'search', 'completions of files', 'export', 'search in it', 'completions in it']);
  });

  it.each(['viewer', 'approver', 'driver'] as const)(
    "[DEV-020] the telemetry, the imports and the files of the host are not the %s's, on any wire, by any handshake",
    async (role) => {
      const channels = ['ahp-otlp://logs', 'ahp-otlp://traces', 'ahp-otlp://metrics'];
      for (const wire of WIRES) {
        const client = await host.as(access(role), wire, begin(wire, channels));
        const ways = ['telemetry', 'imports', 'files of the host'] as const;
        for (const way of ways) await tried(client, UNNAMED[way]?.() ?? []);
        await nativeTurn(owner, defaultChatUri(INSIDE), `heard by ${role} on ${wire}`);
        const heard = JSON.stringify(client.received);
        expect([wire, /otlp\/|resourceLogs|resourceSpans|resourceMetrics/.test(heard)]).toEqual([wire, false]);
        expect([wire, heard.includes(`"${SECRET}"`), heard.includes(Buffer.from(SECRET).toString('base64'))]).toEqual([
          ...[wire, false, false],
        ]);
      }
    },
  );

  const begin = (wire: Wire, channels: readonly string[]) =>
    wire === '1'
      ? { initialSubscriptions: ['agenthost:/root', ...channels] }
      : { initialSubscriptions: ['ahp-root://', ...channels] };
});
