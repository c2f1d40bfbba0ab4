/** Our client library on our host, in one process, in each version that the library speaks. */
import { isDeepStrictEqual } from 'node:util';
import { type Client, connect, type OpenSession, type Transport } from '@atrium/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { transportTo } from '../support/library.js';
import { startTestHost } from '../support/test-host.js';

const started = (turnId: string, text = 'hello') =>
  ({ type: 'chat/turnStarted', turnId, message: { text, origin: { kind: 'user' } } }) as const;
const queued = (id: string) =>
  ({ type: 'chat/pendingMessageSet', kind: 'queued', id, message: { text: id, origin: { kind: 'user' } } }) as const;

interface Joined {
  readonly client: Client;
  /** Cuts the connection; the client comes back by itself. */
  cut(): void;
}

async function hostWith(version: string) {
  const { host } = await startTestHost();
  const join = async (): Promise<Joined> => {
    let last: Transport | undefined;
    const transport = async () => {
      last = transportTo(host);
      return last;
    };
    const client = await connect({ transport, protocolVersions: [version], log: () => {} });
    onTestFinished(() => client.close());
    expect(client.host).toMatchObject({ protocolVersion: version, serverInfo: { name: 'atrium' } });
    return { client, cut: () => last?.close() };
  };
  return { host, join };
}

async function say({ chat }: OpenSession, turnId: string): Promise<void> {
  await chat.dispatch(started(turnId));
  await expect.poll(() => chat.confirmed.turns.some(({ id }) => id === turnId)).toBe(true);
}

describe.each(['1.0.0', '0.9.0'])('two clients on one session, in %s', (version) => {
  it('see the same turn', async () => {
    const { join } = await hostWith(version);
    const [one, two] = [await join(), await join()];
    const uri = await one.client.createSession();
    const [mine, theirs] = [await one.client.open(uri), await two.client.open(uri)];
    await say(mine, 't1');
    await expect.poll(() => isDeepStrictEqual(theirs.state, mine.state)).toBe(true);
    expect(theirs.state.chat.turns[0]?.responseParts).toMatchObject([{ kind: 'markdown', content: 'Hello there' }]);
    expect(theirs.state.chat.turns[0]).toMatchObject({ startedAt: expect.any(String), duration: expect.any(Number) });
  });

  it('both learn that it was disposed, and a late action is turned down', async () => {
    const { join } = await hostWith(version);
    const [one, two] = [await join(), await join()];
    const uri = await one.client.createSession();
    const watching = await one.client.open(uri);
    await two.client.disposeSession(uri);
    await expect.poll(() => [watching.session.isGone, watching.chat.isGone]).toEqual([true, true]);
    await expect(watching.dispatch({ type: 'session/titleChanged', title: 'ghost' })).rejects.toThrow();
  });

  it('are told why an action that makes no sense was not taken', async () => {
    const { client } = await (await hostWith(version)).join();
    const { session } = await client.open(await client.createSession());
    await expect(session.dispatch({} as never)).rejects.toThrow('an action is an object with a type');
    await expect(session.dispatch({ type: 'session/ready' })).rejects.toThrow('clients cannot dispatch session/ready');
  });

  it('[CLI-032] lose nothing and double nothing when a connection is cut under their actions', async () => {
    const { join } = await hostWith(version);
    const [one, two] = [await join(), await join()];
    const uri = await one.client.createSession();
    const [mine, theirs] = [await one.client.open(uri), await two.client.open(uri)];
    const sent: Promise<unknown>[] = [];
    for (let round = 0; round < 20; round += 1) {
      sent.push(mine.dispatch(queued(`mine-${round}`)), theirs.dispatch(queued(`theirs-${round}`)));
      if (round % 4 === 0) (round % 8 === 0 ? one : two).cut();
      await new Promise((resolve) => setTimeout(resolve, round % 3));
      for (const { client } of [one, two]) client.reconnectNow();
    }
    await Promise.all(sent);
    // The agent takes one after the other off the queue.
    await expect.poll(() => mine.chat.confirmed.turns.length).toBe(sent.length);
    await expect.poll(() => isDeepStrictEqual(theirs.state, mine.state)).toBe(true);
    const texts = mine.state.chat.turns.map(({ message }) => message.text);
    expect(texts.toSorted()).toEqual([...Array(20).keys()].flatMap((n) => [`mine-${n}`, `theirs-${n}`]).toSorted());
    expect([...mine.chat.pending, ...theirs.chat.pending]).toEqual([]);
  });

  it('[CLI-037] lose no message when both send one at the same moment, and when the host is away meanwhile', async () => {
    const { join } = await hostWith(version);
    const [one, two] = [await join(), await join()];
    const uri = await one.client.createSession();
    const [mine, theirs] = [await one.client.open(uri), await two.client.open(uri)];
    await Promise.all([mine.sendMessage({ text: 'hello' }), theirs.sendMessage({ text: 'hi' })]);
    const texts = () => mine.chat.confirmed.turns.map(({ message }) => message.text).toSorted();
    await expect.poll(texts).toEqual(['hello', 'hi']);
    two.cut();
    const late = theirs.sendMessage({ text: 'while away' });
    await mine.sendMessage({ text: 'hello again' });
    two.client.reconnectNow();
    await late;
    await expect.poll(texts).toEqual(['hello', 'hello again', 'hi', 'while away']);
    await expect.poll(() => isDeepStrictEqual(theirs.state, mine.state)).toBe(true);
  });

  it('[CLI-034] page through history from the newest turns, and keep their place over a reconnect', async () => {
    const { join } = await hostWith(version);
    const [one, two] = [await join(), await join()];
    const uri = await one.client.createSession();
    const all = await one.client.open(uri);
    for (let turn = 0; turn < 25; turn += 1) await say(all, `t${turn}`);
    const some = await two.client.open(uri, { turns: { last: 2 } });
    expect(some.state.chat.turns.map(({ id }) => id)).toEqual(['t23', 't24']);
    expect([some.chat.hasOlder, some.chat.olderCount]).toEqual([true, 23]);
    expect(await some.chat.loadOlder(1)).toBe(20);
    expect(some.chat.olderCount).toBe(3);
    two.cut();
    await say(all, 't25');
    two.client.reconnectNow();
    await expect.poll(() => some.state.chat.turns.length).toBe(23);
    expect(await some.chat.loadOlder(1)).toBe(3);
    expect([some.chat.hasOlder, some.chat.olderCount]).toEqual([false, 0]);
    await expect.poll(() => isDeepStrictEqual(some.state, all.state)).toBe(true);
  });

  it('[CLI-030] share chats: one forks, both see it, and it ends for both', async () => {
    const { join } = await hostWith(version);
    const [one, two] = [await join(), await join()];
    const uri = await one.client.createSession();
    const [mine, theirs] = [await one.client.open(uri), await two.client.open(uri)];
    await say(mine, 't1');
    const source = { kind: 'fork', chat: mine.chat.uri, turnId: 't1' } as const;
    const chat = await one.client.createChat(uri, { source });
    await expect.poll(() => theirs.state.session.chats.length).toBe(2);
    const [fork, other] = [await one.client.open(uri, { chat }), await two.client.open(uri, { chat })];
    await say(other, 't2');
    await expect.poll(() => isDeepStrictEqual(fork.state, other.state)).toBe(true);
    expect(fork.state.chat.turns.map(({ message }) => message.text)).toEqual(['hello', 'hello']);
    expect(mine.state.chat.turns).toHaveLength(1);
    await two.client.disposeChat(chat);
    await expect.poll(() => [fork.isGone, other.isGone]).toEqual([true, true]);
    expect([mine.isGone, theirs.isGone]).toEqual([false, false]);
  });

  it('see what waits for an answer, and one answers who watches the session alone', async () => {
    const { join } = await hostWith(version);
    const [one, two] = [await join(), await join()];
    const uri = await one.client.createSession();
    const mine = await one.client.open(uri);
    const watching = await two.client.subscribe(uri);
    await mine.dispatch({ type: 'chat/draftChanged', draft: { text: 'Which one' } });
    await mine.dispatch({ type: 'chat/turnStarted', turnId: 't1', message: { text: 'ask' } });
    await expect.poll(() => watching.state.inputNeeded?.map(({ kind }) => kind)).toEqual(['chatInput']);
    const [entry] = watching.state.inputNeeded ?? [];
    if (entry?.kind !== 'chatInput') throw new Error('nothing is asked');
    const answers = { name: { state: 'submitted', value: { kind: 'text', value: 'Ada' } } } as const;
    const answer = { requestId: entry.request.id, response: 'accept', answers } as const;
    await two.client.dispatch(entry.chat, { type: 'chat/inputCompleted', ...answer });
    await expect.poll(() => mine.chat.confirmed.turns.length).toBe(1);
    expect(watching.state.inputNeeded).toBeUndefined();
    const [question, text] = mine.chat.confirmed.turns[0]?.responseParts ?? [];
    expect(question).toMatchObject({ kind: 'inputRequest', response: 'accept', request: { answers } });
    expect(text).toMatchObject({ kind: 'markdown', content: expect.stringContaining('Ada') });
    expect(mine.chat.confirmed.draft?.text).toBe('Which one');
  });

  it('annotate a session together, until it is gone', async () => {
    const { join } = await hostWith(version);
    const [one, two] = [await join(), await join()];
    const uri = await one.client.createSession();
    const channel = `${uri}/annotations` as const;
    const [mine, theirs] = [await one.client.subscribe(channel), await two.client.subscribe(channel)];
    const entries = [{ id: 'e1', text: 'Look here' }];
    const annotation = { id: 'a1', origin: { session: uri }, resource: 'file:///a.ts', resolved: false, entries };
    await mine.dispatch({ type: 'annotations/set', annotation });
    await expect.poll(() => theirs.state.annotations).toEqual([annotation]);
    await one.client.disposeSession(uri);
    await expect.poll(() => [mine.isGone, theirs.isGone]).toEqual([true, true]);
  });

  it('follow the catalogue of automations', async () => {
    const { client } = await (await hostWith(version)).join();
    const automations = await client.subscribe('ahp-automations://');
    expect(automations.state.entries).toEqual([]);
    const definition = {
      title: 'Nightly',
      message: { text: 'hello', origin: { kind: 'automation' as const } },
      session: {},
      enabled: false,
      triggers: [],
    };
    await automations.dispatch({ type: 'automation/createRequested', resource: 'ahp-automation:/n', definition });
    await expect.poll(() => automations.state.entries.map(({ definition: { title } }) => title)).toEqual(['Nightly']);
  });

  it('[CLI-035] have a list of sessions that is up to date', async () => {
    const { join } = await hostWith(version);
    const [one, two] = [await join(), await join()];
    const list = await two.client.sessions();
    const uri = await one.client.createSession();
    await expect.poll(() => list.get(uri)?.title).toBeDefined();
    await one.client.dispatch(uri, { type: 'session/titleChanged', title: 'Renamed' });
    await expect.poll(() => list.get(uri)?.title).toBe('Renamed');
    expect((await two.client.listSessions()).map(({ resource }) => resource)).toEqual([uri]);
    await one.client.disposeSession(uri);
    await expect.poll(() => list.items).toEqual([]);
  });
});
