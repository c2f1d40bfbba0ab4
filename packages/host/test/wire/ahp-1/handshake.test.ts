import type { RootState, SessionState, SessionSummary } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { chatState, nativeClient, nativeSession, nativeTurn } from '../../support/native-client.js';
import { openFixture, startHost } from '../../support/session-fixture.js';
import { ROOT, settle } from '../../support/test-host.js';

const VERSIONS = ['1.0.0', '0.9.0', '0.7.0', '0.6.0', '0.5.2', '0.5.1', '0.5.0'];

describe('the handshake of the public protocol', () => {
  it('[UP-024] [UP-026] [UP-064] says who the host is, and nothing that a client would take for another host', async () => {
    const host = await startHost({ automations: false });
    const client = host.connect();
    const hello = { channel: ROOT, clientId: 'a', clientInfo: { name: 'x' }, _meta: { 'vscode.a': true } };
    const result = await client.request('initialize', { ...hello, protocolVersions: ['1.0.0'] });
    expect(result.serverInfo).toMatchObject({ name: 'atrium', title: 'Atrium' });
    expect(result).not.toHaveProperty('automations');
    expect(result).not.toHaveProperty('_meta');
    const root = await client.state<RootState>(ROOT);
    expect(root._meta?.hostBuild).toBeUndefined();
  });

  it('[UP-025] [UP-018] leaves out subscriptions to what there is not', async () => {
    const { host, uri } = await openFixture();
    const client = host.connect();
    const initialSubscriptions = [
      ROOT,
      'ahp-session:/none',
      uri,
      uri.toUpperCase(),
      'ahp-chat:/none',
      'ahp-terminal:/none',
    ];
    const { snapshots } = await client.request<{ snapshots: { resource: string }[] }>('initialize', {
      ...{ channel: ROOT, clientId: 'a', protocolVersions: ['1.0.0'], initialSubscriptions },
    });
    expect(snapshots.map(({ resource }) => resource)).toEqual([ROOT, uri]);
  });

  it('[UP-015] [UP-027] refuses the reconnect of a client it does not know, and takes its initialize on the same connection', async () => {
    const { host, uri } = await openFixture();
    const client = host.connect();
    const back = { channel: ROOT, clientId: 'lost', lastSeenServerSeq: 4, subscriptions: [uri] };
    expect((await client.ask('reconnect', back)).error).toMatchObject({ code: -32008 });
    const hello = {
      channel: ROOT,
      clientId: 'lost',
      protocolVersions: ['1.0.0', '0.9.0'],
      initialSubscriptions: [uri],
    };
    expect(await client.request('initialize', hello)).toMatchObject({ protocolVersion: '1.0.0' });
  });

  it.each(VERSIONS)(
    '[UP-015] [UP-149] a client of %s comes back to its version, and to all that it missed',
    async (version) => {
      const { client: desk, host, uri } = await openFixture();
      const { defaultChat = '' } = await (await nativeClient(host, 'n')).state<SessionState>(uri);
      const first = await host.client('phone', {
        protocolVersions: [version],
        initialSubscriptions: [uri, defaultChat],
      });
      const lastSeenServerSeq = host.log.head;
      first.disconnect();
      await desk.turn(uri, 'hello');
      await settle();
      const again = host.connect();
      const back = { channel: ROOT, clientId: 'phone', lastSeenServerSeq, subscriptions: [uri, defaultChat] };
      const { type, actions } = await again.request<{
        type: string;
        actions: { serverSeq: number; channel: string }[];
      }>('reconnect', back);
      expect(type).toBe('replay');
      const numbers = actions.map(({ serverSeq }) => serverSeq);
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
      expect(numbers.every((number) => number > lastSeenServerSeq)).toBe(true);
      expect(new Set(actions.map(({ channel }) => channel))).toEqual(new Set([uri, defaultChat]));
      await desk.turn(uri, 'hello');
      await again.action(defaultChat, 'chat/turnComplete');
    },
  );

  it('[UP-022] [UP-021] [UP-045] does not know methods of capabilities that it does not offer', async () => {
    const { host, uri } = await openFixture({ automations: false });
    const client = await nativeClient(host, 'a');
    const automations = { channel: 'ahp-automations://' };
    const calls: [string, object][] = [
      ['moveChat', { channel: 'ahp-chat:/x', destination: { kind: 'newSession' }, requestId: 'r' }],
      ['runAutomation', { ...automations, automation: 'ahp-automation:/a', requestId: 'r' }],
      ['fetchAutomationRuns', { ...automations, automation: 'ahp-automation:/a' }],
      ['listAutomationTriggerDefinitions', { channel: ROOT }],
      ['extensions/getPlan', { channel: uri }],
    ];
    for (const [method, params] of calls) expect((await client.ask(method, params)).error?.code, method).toBe(-32601);
  });

  it('[UP-043] [UP-062] refuses a second chat where the agent has one only', async () => {
    const { host } = await openFixture();
    const client = await nativeClient(host, 'a');
    const { uri } = await nativeSession(client, { provider: 'puppet' });
    const { error } = await client.ask('createChat', { channel: uri, chat: 'ahp-chat:/second' });
    expect([-32601, -32602]).toContain(error?.code);
    const { agents } = await client.state<RootState>(ROOT);
    expect(agents.map(({ provider, capabilities }) => [provider, capabilities?.multipleChats])).toEqual([
      ['mock', { fork: true, sideChat: true }],
      ['puppet', undefined],
    ]);
  });
});

describe('the list of sessions', () => {
  interface Page {
    readonly items: SessionSummary[];
    readonly nextCursor?: string;
  }

  it('[UP-032] comes whole, or in pages, the most recently modified first', async () => {
    const { host, clock } = await openFixture();
    const client = await nativeClient(host, 'a');
    const made: string[] = [];
    for (let count = 0; count < 5; count++) {
      await clock.advance(1_000);
      const { uri, chat } = await nativeSession(client);
      await nativeTurn(client, chat, 'hello');
      made.unshift(uri);
    }
    await settle();
    const whole = await client.request<Page>('listSessions', { channel: ROOT });
    expect(whole.items.map(({ resource }) => resource).slice(0, 5)).toEqual(made);
    expect(whole).not.toHaveProperty('nextCursor');
    const seen: string[] = [];
    for (let cursor: string | undefined, pages = 0; pages < 10; pages++) {
      const page: Page = await client.request('listSessions', { channel: ROOT, limit: 2, ...(cursor && { cursor }) });
      seen.push(...page.items.map(({ resource }) => resource));
      cursor = page.nextCursor;
      if (!cursor) break;
      expect(page.items).toHaveLength(2);
    }
    expect(seen).toEqual(whole.items.map(({ resource }) => resource));
    expect((await client.ask('listSessions', { channel: ROOT, cursor: 'nonsense' })).error?.code).toBe(-32602);
    expect((await client.ask('listSessions', { channel: ROOT, limit: 0 })).error?.code).toBe(-32602);
  });

  it('[UP-055] [UP-056] [UP-067] follows by notifications, which are not replayed', async () => {
    const { host } = await openFixture();
    const client = await nativeClient(host, 'a');
    const watcher = await nativeClient(host, 'b');
    const { uri, chat } = await nativeSession(client);
    const added = await watcher.until(({ method }) => method === 'root/sessionAdded');
    expect(added.params?.summary).toMatchObject({ resource: uri });
    await nativeTurn(client, chat, 'hello');
    await settle();
    const changes = watcher.received.filter(({ method }) => method === 'root/sessionSummaryChanged');
    expect(changes.map(({ params }) => params?.changes)).toContainEqual(expect.objectContaining({ status: 8 }));
    watcher.disconnect();
    const again = host.connect();
    await again.request('reconnect', { channel: ROOT, clientId: 'b', lastSeenServerSeq: 0, subscriptions: [ROOT] });
    expect(again.received.filter(({ method }) => method?.startsWith('root/'))).toEqual([]);
  });
});

describe('turns of a chat', () => {
  async function longChat(turns: number) {
    const { host } = await openFixture();
    const client = await nativeClient(host, 'a');
    const { chat, uri } = await nativeSession(client);
    for (let count = 0; count < turns; count++) await nativeTurn(client, chat, 'hello', `t${count}`);
    return { host, client, chat, uri };
  }

  it('[UP-029] [UP-031] come all, or as many of the newest as a client wants', async () => {
    const { client, chat } = await longChat(4);
    const all = await chatState(client, chat);
    expect(all.turns).toHaveLength(4);
    expect(all).not.toHaveProperty('turnsNextCursor');
    const { snapshot } = await client.request<{ snapshot: { state: typeof all } }>('subscribe', {
      channel: chat,
      view: { turns: 1 },
    });
    expect(snapshot.state.turns.map(({ id }) => id)).toEqual(['t3']);
    expect(snapshot.state.turnsNextCursor).toBeDefined();
  });

  it('[UP-033] older ones are loaded into the state of the client that asks, before the answer', async () => {
    const { host, client, chat } = await longChat(4);
    const phone = await nativeClient(host, 'phone');
    const { snapshot } = await phone.request<{ snapshot: { state: { turnsNextCursor: string } } }>('subscribe', {
      channel: chat,
      view: { turns: 1 },
    });
    const cursor = snapshot.state.turnsNextCursor;
    const before = client.received.length;
    expect(await phone.request('fetchTurns', { channel: chat, cursor })).toEqual({});
    const loaded = phone.received.at(-2);
    expect(loaded).toMatchObject({
      method: 'action',
      params: {
        channel: chat,
        action: { type: 'chat/turnsLoaded', turns: [{ id: 't0' }, { id: 't1' }, { id: 't2' }] },
      },
    });
    expect(client.received.slice(before)).toEqual([]);
    for (const cursor of ['nonsense', '3 turns', '-1', '1'.repeat(16)]) {
      expect((await phone.ask('fetchTurns', { channel: chat, cursor })).error?.code, cursor).toBe(-32602);
    }
  });
});
