/** A session with several chats that begins anew as a copy of another one. */
import type { Commit, Stored } from '@atrium/core/log/log.js';
import { type ChatState, defaultChatUri, type SessionState, workerChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { type ChatFixture, chatsOf, openChats, SEVERAL, said } from '../support/chat-fixture.js';
import { KeptLog } from '../support/logs.js';
import { chatState, nativeClient, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { startHost } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';

const FORK = 'ahp-session:/fork';

/** A turn of the puppet, which does something meanwhile. */
async function turn(fixture: ChatFixture, chat: string, id: string, work?: (at: number) => Promise<void>) {
  const { client, agent } = fixture;
  const at = agent.turns.length;
  client.dispatch(chat, { type: 'chat/turnStarted', turnId: id, message: userMessage(id) } as never);
  const { finish } = await agent.turn(at);
  await work?.(at);
  finish();
  await client.action(chat, ({ type, turnId }) => type === 'chat/turnComplete' && turnId === id);
}

/** Lets the turn with this index give a task to a worker. */
async function giveTask({ agent }: ChatFixture, at: number): Promise<void> {
  const outcome = agent.turns[at]?.turn.callTool({ name: 'task', input: { title: 'Count', prompt: 'Go' } });
  (await agent.turn(at + 1)).finish();
  await outcome;
}

/** Turns t1 (with a worker), t2, t3 (with another worker); chats of a person, and beside t1, t2 and t3. */
async function withChats(log = new KeptLog()) {
  const fixture = await openChats({ log, tools: builtinTools(), session: { provider: 'puppet' } });
  const { chat, open } = fixture;
  await turn(fixture, chat, 't1', (at) => giveTask(fixture, at));
  await turn(fixture, chat, 't2');
  await turn(fixture, chat, 't3', (at) => giveTask(fixture, at));
  const own = await open('own');
  await turn(fixture, own, 'o1');
  const forked = await open('forked', { source: { kind: 'fork', chat, turnId: 't1' } });
  await turn(fixture, forked, 'f2');
  const side = await open('side', { source: { kind: 'sideChat', chat, turnId: 't2', selection: { text: 'words' } } });
  await turn(fixture, side, 's1');
  const nested = await open('nested', { source: { kind: 'sideChat', chat: side, turnId: 's1' } });
  const late = await open('late', { source: { kind: 'sideChat', chat, turnId: 't3' } });
  await open('beside-late', { source: { kind: 'fork', chat, turnId: 't3' } });
  return { ...fixture, log, own, forked, side, nested, late };
}

/** A client that may fork sessions: versions from 0.9 on have no word for it. */
async function fork({ host }: Pick<ChatFixture, 'host'>, session: string, turnId: string): Promise<void> {
  const older = await host.client(`older-${crypto.randomUUID()}`, { protocolVersions: ['0.7.0'] });
  await older.request('createSession', { channel: FORK, provider: 'puppet', fork: { session, turnId } });
  older.disconnect();
}

const originsOf = ({ chats }: SessionState) => chats.map(({ origin }) => origin);

describe('forking a session with several chats', () => {
  it('[AHP-169] copies those that do not belong to a later turn, with their relations', async () => {
    const fixture = await withChats();
    const { client, uri, chat } = fixture;
    await fork(fixture, uri, 't2');
    const state = await client.state<SessionState>(FORK);
    const [first, worker, own, forked, side, nested, ...more] = await chatsOf(client, FORK);
    expect(more).toEqual([]);
    const [, working = ''] = await chatsOf(client, uri);
    const toolCallId = working.split('/').at(-1) ?? '';
    expect([first, worker]).toEqual([defaultChatUri(FORK), workerChatUri(FORK, toolCallId)]);
    expect(originsOf(state)).toMatchObject([
      { kind: 'user' },
      { kind: 'tool', chat: first, toolCallId },
      { kind: 'user' },
      { kind: 'fork', chat: first, turnId: 't1' },
      { kind: 'sideChat', chat: first, turnId: 't2', selection: { text: 'words' } },
      { kind: 'sideChat', chat: side, turnId: 's1' },
    ]);
    const names = new Set(await chatsOf(client, uri));
    for (const name of [worker, own, forked, side, nested]) expect(names.has(name ?? '')).toBe(false);
    const saidIn = async (name = '') => said(await chatState(client, name));
    expect(await Promise.all([first, own, forked, side, nested].map(saidIn))).toEqual([
      ['t1', 't2'],
      ['o1'],
      ['t1', 'f2'],
      ['s1'],
      [],
    ]);
    const copied = await chatState(client, worker ?? '');
    expect(copied).toMatchObject({ interactivity: 'read-only', turns: [{ message: { text: 'Go' } }] });
    expect(copied.activeTurn).toBeUndefined();
    // What names a worker names the copy.
    for (const name of [first, forked]) {
      const json = JSON.stringify((await chatState(client, name ?? '')).turns);
      expect(json).toContain(worker);
      expect(json).not.toContain(working);
    }
    expect(said(await chatState(client, chat))).toEqual(['t1', 't2', 't3']);
  });

  it('[AHP-169] [UP-039] goes its own way: the agents of its side chats know what they knew, also after a restart', async () => {
    const fixture = await withChats();
    const { client, uri, log, side: source, clock } = fixture;
    await fork(fixture, uri, 't2');
    const [, , , , side = '', nested = ''] = await chatsOf(client, FORK);
    await client.request('disposeChat', { channel: source });
    await client.request('disposeSession', { channel: uri });
    await fixture.host.stop();
    const agent = new PuppetAgent('puppet', SEVERAL);
    const host = await startHost({ log, clock, agents: [agent] });
    const phone = await nativeClient(host, 'phone', { initialSubscriptions: [side, nested] });
    const asks = async (chat: string, at: number) => {
      phone.dispatch(chat, { type: 'chat/turnStarted', turnId: `p${at}`, message: userMessage('?') } as never);
      await agent.turn(at);
      return (await agent.history(10)).map(({ id }) => id);
    };
    expect(await asks(side, 0)).toEqual(['t1', 't2', 's1']);
    expect(await asks(nested, 1)).toEqual(['s1']);
  });

  it('[AHP-169] leaves out a worker that is at work, and what belongs to a turn that is running', async () => {
    const fixture = await openChats({ tools: builtinTools(), session: { provider: 'puppet' } });
    const { client, uri, chat, agent, open } = fixture;
    await turn(fixture, chat, 't1');
    const two = await open('two');
    client.dispatch(two, { type: 'chat/turnStarted', turnId: 'b1', message: userMessage('b1') } as never);
    const { turn: running } = await agent.turn(1);
    running.callTool({ name: 'task', input: { title: 'Count', prompt: 'Go' } }).catch(() => {});
    await agent.turn(2);
    await open('side', { source: { kind: 'sideChat', chat: two, turnId: 'b1' } });
    await fork(fixture, uri, 't1');
    const state = await client.state<SessionState>(FORK);
    expect(originsOf(state).map((origin) => origin?.kind)).toEqual(['user', 'user']);
    expect(state.status).toBe(1);
    const copied = await client.state<ChatState>(state.chats[1]?.resource ?? '');
    expect([said(copied), copied.activeTurn, copied.status]).toEqual([[], undefined, 1]);
  });

  it('[AHP-169] is there as a whole, or not at all, whenever the host dies', { timeout: 60_000 }, async () => {
    let isWhole = false;
    let commits = 0;
    for (; !isWhole; commits += 1) {
      const log = new MortalLog();
      const fixture = await withChats(log);
      log.left = commits;
      fork(fixture, fixture.uri, 't2').catch(() => {});
      await settle(60);
      isWhole = log.left > 0;
      log.left = Number.POSITIVE_INFINITY;
      const host = await startHost({ log, clock: fixture.clock, agents: [new PuppetAgent('puppet', SEVERAL)] });
      const desk = await nativeClient(host, 'desk-2');
      const { items } = await desk.request<{ items: { resource: string }[] }>('listSessions', {
        channel: 'ahp-root://',
      });
      if (!items.some(({ resource }) => resource === FORK)) await fork({ host }, fixture.uri, 't2');
      const names = await chatsOf(desk, FORK);
      expect(names).toHaveLength(6);
      const texts = await Promise.all(names.map(async (name) => said(await chatState(desk, name))));
      expect(texts).toEqual([['t1', 't2'], ['Go'], ['o1'], ['t1', 'f2'], ['s1'], []]);
      await host.stop();
    }
    expect(commits).toBeGreaterThan(5);
  });
});

/** The log of a host that dies after so many commits. */
class MortalLog extends KeptLog {
  left = Number.POSITIVE_INFINITY;

  override async append(commit: Commit): Promise<Stored> {
    if (this.left <= 0) throw new Error('the host is dead');
    this.left -= 1;
    return super.append(commit);
  }
}
