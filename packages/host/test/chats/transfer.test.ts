/** Sessions with several chats that leave a host and come into another one. */
import { SESSION_CHATS_MAX } from '@atrium/core/sessions/limits.js';
import { defaultChatUri, type SessionState, sideContextUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { chatsOf, openChats, SEVERAL, said } from '../support/chat-fixture.js';
import { chatState, nativeClient, nativeTurn, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { startHost } from '../support/session-fixture.js';
import type { RawClient } from '../support/test-host.js';

interface Exported {
  readonly resource: string;
  readonly turns: number;
}

function exported(client: RawClient, channel: string) {
  return client.request<{ chats: Exported[] }>('atrium/chats', { channel });
}

async function turnsOf(client: RawClient, channel: string, end: number): Promise<unknown[]> {
  return (await client.request<{ turns: unknown[] }>('atrium/chatTurns', { channel, start: 0, end })).turns;
}

describe('a session with several chats', () => {
  it('[UP-039] is exported and imported with all of them', async () => {
    const { client, chat, uri, open } = await openChats();
    await nativeTurn(client, chat, 'one', 't1');
    const two = await open('two');
    await nativeTurn(client, two, 'two');
    const fork = await open('fork', { source: { kind: 'fork', chat, turnId: 't1' } });
    await nativeTurn(client, fork, 'three');
    const { chats } = await exported(client, uri);
    expect(chats).toMatchObject([
      { resource: two, turns: 1 },
      { resource: fork, turns: 2, origin: { kind: 'fork' } },
    ]);
    const summary = (await client.request<{ items: object[] }>('listSessions', { channel: 'ahp-root://' })).items[0];
    const channel = 'ahp-session:/imported';
    const take = (page: object) => client.request('atrium/importSession', { channel, ...page });
    await take({ start: 0, turns: await turnsOf(client, chat, 1) });
    const listed = [];
    for (const { resource, turns, ...rest } of chats) {
      const name = `${resource}-again`;
      await take({ chat: name, start: 0, turns: await turnsOf(client, resource, turns) });
      listed.push({ ...rest, resource: name });
    }
    // Nobody sees any of it before the end.
    expect((await client.ask('subscribe', { channel: `${two}-again` })).error?.code).toBe(-32008);
    await take({ start: 1, turns: [], state: { summary, chats: listed } });
    expect((await chatsOf(client, channel)).slice(1)).toEqual([`${two}-again`, `${fork}-again`]);
    expect(said(await chatState(client, `${fork}-again`))).toEqual(['one', 'three']);
    await client.request('subscribe', { channel: `${two}-again` });
    await nativeTurn(client, `${two}-again`, 'goes on');
    expect(said(await chatState(client, `${two}-again`))).toEqual(['two', 'goes on']);
    expect((await client.state<SessionState>(channel)).chats[2]).toMatchObject({ origin: { kind: 'fork' } });
  });

  it('[UP-039] [CLI-044] keeps what the agent of a side chat knows beforehand, also over a restart', async () => {
    const { client, chat, uri, open, agent, log } = await openChats({ session: { provider: 'puppet' } });
    for (const [index, id] of ['t1', 't2', 't3'].entries()) {
      client.dispatch(chat, { type: 'chat/turnStarted', turnId: id, message: userMessage(id) } as never);
      (await agent.turn(index)).finish();
      await client.action(chat, ({ type, turnId }) => type === 'chat/turnComplete' && turnId === id);
    }
    const side = await open('side', { source: { kind: 'sideChat', chat, turnId: 't2' } });
    client.dispatch(chat, { type: 'chat/truncated' });
    await client.action(chat, 'chat/truncated');
    const { chats } = await exported(client, uri);
    expect(chats).toMatchObject([{ resource: side, turns: 0, context: 2 }]);
    const part = (start: number, end: number) =>
      client.request<{ turns: { id: string }[] }>('atrium/chatTurns', { channel: side, context: true, start, end });
    const { turns: context } = await part(0, 9);
    expect(context.map(({ id }) => id)).toEqual(['t1', 't2']);
    expect((await part(1, 2)).turns.map(({ id }) => id)).toEqual(['t2']);
    expect(await part(2, 9)).toEqual({ turns: [] });

    const { items } = await client.request<{ items: object[] }>('listSessions', { channel: 'ahp-root://' });
    const channel = 'ahp-session:/imported';
    const take = (page: object) => client.request('atrium/importSession', { channel, turns: [], ...page });
    const again = { chat: 'ahp-chat:/again', context: true };
    const left = { chat: 'ahp-chat:/left', context: true };
    await take({ start: 0 });
    await take({ ...left, start: 0, turns: context });
    // A new beginning forgets what an earlier one left.
    await take({ start: 0 });
    expect(await log.archiveHead(sideContextUri(left.chat))).toBeUndefined();
    await take({ chat: again.chat, start: 0 });
    const [{ json }] = [{ json: JSON.stringify(context[0]) }];
    await take({ ...again, start: 0, turns: undefined, piece: { at: 0, text: json.slice(0, 9), isLast: false } });
    await take({ ...again, start: 0, turns: undefined, piece: { at: 9, text: json.slice(9), isLast: true } });
    await take({ ...again, start: 1, turns: context.slice(1) });
    const origin = { kind: 'sideChat', chat: defaultChatUri(channel), turnId: 't2' };
    const listed = { resource: again.chat, title: 'Side', status: 1, modifiedAt: new Date(0).toISOString(), origin };
    await take({ start: 0, state: { summary: items[0], chats: [listed] } });

    const next = new PuppetAgent('puppet', SEVERAL);
    const host = await startHost({ log, agents: [next] });
    const phone = await nativeClient(host, 'phone', { initialSubscriptions: [again.chat] });
    expect(said(await chatState(phone, again.chat))).toEqual([]);
    phone.dispatch(again.chat, { type: 'chat/turnStarted', turnId: 's1', message: userMessage('why?') } as never);
    await next.turn(0);
    expect((await next.history(10)).map(({ id }) => id)).toEqual(['t1', 't2']);
  });

  it('[UP-042] is refused with names that are taken, come twice or cannot be', async () => {
    const { client, uri, open } = await openChats();
    const two = await open('two');
    const { items } = await client.request<{ items: object[] }>('listSessions', { channel: 'ahp-root://' });
    const channel = 'ahp-session:/imported';
    const code = async (page: object) =>
      (await client.ask('atrium/importSession', { channel, start: 0, turns: [], ...page })).error?.code;
    expect(await code({ chat: two })).toBe(-32602);
    expect(await code({ chat: 'ahp-chat://default/x' })).toBe(-32602);
    expect(await code({ chat: 7 })).toBe(-32602);
    expect(await code({ context: true })).toBe(-32602);
    expect(await code({ chat: two, context: true })).toBe(-32602);
    expect(await code({ chat: 'ahp-chat:/new', context: 'yes' })).toBe(-32602);
    const listed = (resource: string) => ({ resource, title: '', status: 1, modifiedAt: new Date(0).toISOString() });
    const state = (...names: string[]) => ({ state: { summary: items[0], chats: names.map(listed) } });
    expect(await code(state('ahp-chat:/a', 'ahp-chat:/a'))).toBe(-32602);
    expect(await code(state(two))).toBe(-32602);
    expect(await code(state('ahp-session:/a'))).toBe(-32602);
    expect(await code(state('ahp-chat:/a'))).toBe(undefined);
    expect(await chatsOf(client, uri)).toContain(two);
  });

  it('[UP-078] takes chats of workers for what they are, also when each claims to be the worker of the other', async () => {
    const { client } = await openChats({ session: { provider: 'puppet' } });
    const { items } = await client.request<{ items: object[] }>('listSessions', { channel: 'ahp-root://' });
    const listed = (resource: string, chat: string) => ({
      ...{ resource, title: '', status: 1, modifiedAt: new Date(0).toISOString() },
      origin: { kind: 'tool', chat, toolCallId: 'c' },
      interactivity: 'full',
    });
    const chats = [listed('ahp-chat:/a', 'ahp-chat:/b'), listed('ahp-chat:/b', 'ahp-chat:/a')];
    const channel = 'ahp-session:/imported';
    await client.request('atrium/importSession', { channel, start: 0, turns: [], state: { summary: items[0], chats } });
    expect((await chatState(client, 'ahp-chat:/a')).interactivity).toBe('read-only');
    expect(await client.request('disposeChat', { channel: 'ahp-chat:/a' })).toBe(null);
    expect(await chatsOf(client, channel)).toHaveLength(1);
  });

  it('[UP-042] reserves no more chats than a session may have', async () => {
    const { client } = await openChats();
    const channel = 'ahp-session:/imported';
    const take = (chat: string) => client.ask('atrium/importSession', { channel, chat, start: 0, turns: [] });
    for (let count = 1; count < SESSION_CHATS_MAX; count++)
      expect((await take(`ahp-chat:/${count}`)).error).toBeUndefined();
    expect((await take('ahp-chat:/more')).error?.code).toBe(-32602);
    expect((await take('ahp-chat:/1')).error).toBeUndefined();
  });

  it('[UP-041] has its reserved names for itself', async () => {
    const { client, uri } = await openChats();
    await client.request('atrium/importSession', {
      ...{ channel: 'ahp-session:/imported', chat: 'ahp-chat:/coming', start: 0, turns: [] },
    });
    expect((await client.ask('createChat', { channel: uri, chat: 'ahp-chat:/coming' })).error?.code).toBe(-32010);
  });
});
