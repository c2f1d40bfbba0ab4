/** Several chats of a session, and clients of wires that have chats of another shape, or none. */
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { type ChatState, defaultChatUri, type SessionState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { openChats, said } from '../support/chat-fixture.js';
import { FakeClock } from '../support/fake-clock.js';
import { LARGE, storeLargeSession } from '../support/large-session.js';
import { nativeClient, nativeTurn, sessionState, userMessage } from '../support/native-client.js';
import { startHost } from '../support/session-fixture.js';
import { sessionsV1Client } from '../support/sessions-v1-client.js';
import { ROOT, settle } from '../support/test-host.js';

describe('wires without chats', () => {
  it.each(['0.3.0', '0.2.0'])(
    '[UP-014] %s shows the default chat only, and hears nothing of others',
    async (version) => {
      const { client, host, uri, chat, open } = await openChats();
      const old = await host.client('old', { protocolVersions: [version], initialSubscriptions: [ROOT, uri] });
      const two = await open('two');
      const before = old.envelopes(uri).length;
      await nativeTurn(client, two, 'hello');
      await client.request('disposeChat', { channel: two });
      await settle();
      expect(old.envelopes(uri).slice(before)).toEqual([]);
      expect(old.closed).toBe(undefined);
      await nativeTurn(client, chat, 'hello');
      await old.action(uri, 'session/turnComplete');
      expect((await old.ask('createChat', { channel: uri, chat: 'ahp-chat:/x' })).error?.code).toBe(-32601);
      expect((await old.ask('subscribe', { channel: two })).error?.code).toBeDefined();
    },
  );

  it('[UP-067] 0.3.0 sees in the list that the session waits, while its own conversation stands as it was', async () => {
    const { client, host, uri, open } = await openChats();
    const old = await host.client('old', { initialSubscriptions: [ROOT, uri] });
    await open('two', { initialMessage: userMessage('ask') });
    await client.action(uri, 'session/inputNeededSet');
    const { params } = await old.until(({ method, params: news }) => {
      const { status } = (news?.changes ?? {}) as { status?: number };
      return method === 'root/sessionSummaryChanged' && status !== undefined && (status & 31) === 24;
    });
    expect(params).toMatchObject({ session: uri });
    const state = await old.state<{ summary: { status: number }; inputRequests?: unknown[] }>(uri);
    expect([state.summary.status & 31, state.inputRequests]).toEqual([1, undefined]);
    const { items } = await old.request<{ items: { status: number }[] }>('listSessions', { channel: ROOT });
    expect((items[0]?.status ?? 0) & 31).toBe(24);
  });

  it('[UP-014] version 1 hears its own conversation only', async () => {
    const { client, host, chat, open } = await openChats();
    const old = await sessionsV1Client(host, 'old');
    const [listed] = await old.raw.request<{ resource: string }[]>('listSessions');
    const session = listed?.resource ?? '';
    await old.subscribe(session);
    const two = await open('two');
    await nativeTurn(client, two, 'hello');
    await settle();
    expect(old.types(session)).toEqual([]);
    await nativeTurn(client, chat, 'hello');
    await old.action('session/turnComplete');
    expect(old.raw.closed).toBe(undefined);
  });
});

describe('wires with chats', () => {
  it.each(['0.9.0', '0.7.0', '0.6.0', '0.5.2', '0.5.1', '0.5.0'])(
    '[UP-014] %s opens, follows and removes chats',
    async (version) => {
      const { host, uri, chat, client } = await openChats();
      const old = await host.client('old', { protocolVersions: [version], initialSubscriptions: [uri, chat] });
      await old.request('createChat', { channel: uri, chat: 'ahp-chat:/two' });
      expect(old.types(uri)).toContain('session/chatAdded');
      await old.request('subscribe', { channel: 'ahp-chat:/two' });
      await nativeTurn(old, 'ahp-chat:/two', 'hello', 't1');
      const source = { chat: 'ahp-chat:/two', turnId: 't1' };
      // Up to 0.6 a source is always a fork.
      const kind = version < '0.7' ? {} : { kind: 'fork' };
      await old.request('createChat', { channel: uri, chat: 'ahp-chat:/three', source: { ...kind, ...source } });
      expect(said(await old.state<ChatState>('ahp-chat:/three'))).toEqual(['hello']);
      await old.request('disposeChat', { channel: 'ahp-chat:/two' });
      const { chats } = await old.state<SessionState>(uri);
      expect(chats.map(({ resource }) => resource)).toEqual([chat, 'ahp-chat:/three']);
      expect(await sessionState(client, uri)).toMatchObject({ chats: [{}, { origin: { kind: 'fork' } }] });
    },
  );

  it.each(['0.7.0', '0.6.0', '0.5.1'])(
    '[UP-174] %s hears what waits in a chat that it does not watch',
    async (version) => {
      const { host, uri, open } = await openChats();
      const old = await host.client('old', { protocolVersions: [version], initialSubscriptions: [uri] });
      const two = await open('two', { initialMessage: userMessage('ask') });
      const { action } = await old.action(uri, 'session/inputNeededSet');
      expect(action).toMatchObject({ request: { kind: 'chatInput', chat: two } });
    },
  );

  it('[UP-219] 0.6 has no side chats: one that somebody else opened has no origin', async () => {
    const { client, host, uri, chat, open } = await openChats();
    await nativeTurn(client, chat, 'hello', 't1');
    const side = await open('side', { source: { kind: 'sideChat', chat, turnId: 't1' } });
    const old = await host.client('old', { protocolVersions: ['0.6.0'] });
    expect((await old.state<SessionState>(uri)).chats[1]).not.toHaveProperty('origin');
    expect(await old.state<ChatState>(side)).not.toHaveProperty('origin');
  });
});

describe('turns that only the log has', () => {
  it.each(['0.7.0', '0.6.0', '0.5.2', '0.5.1', '0.5.0'])(
    '[UP-207] [UP-222] are told to clients of %s in the words of their version, like those in memory',
    async (version) => {
      const log = new MemoryLog();
      await storeLargeSession(log, { turns: 60, turnBytes: 100, startedAt: '2026-01-01T00:00:00.000Z' });
      const host = await startHost({ log, clock: new FakeClock() });
      const old = await nativeClient(host, 'old', { protocolVersions: [version] });
      const { turns } = await old.state<ChatState>(defaultChatUri(LARGE));
      expect(turns).toHaveLength(60);
      const members = new Set(turns.map((turn) => Object.keys(turn).sort().join()));
      expect(members.size).toBe(1);
      expect([...members][0]?.includes('startedAt')).toBe(version > '0.5.2');
    },
  );
});
