/** What a fork copies of the chats of a session. */
import { type ChatOrigin, defaultChatUri, SessionStatus, sideContextUri, workerChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { DirectDelivery } from '../../src/channels/delivery.js';
import { Writer } from '../../src/channels/writer.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import type { Chat } from '../../src/sessions/chat.js';
import { ChatIndex } from '../../src/sessions/chat-index.js';
import type { Session } from '../../src/sessions/session.js';
import { copyForFork } from '../../src/sessions/session-fork.js';
import { silentLogger } from '../../src/util/logger.js';

const FROM = 'ahp-session:/from';
const TO = 'ahp-session:/to';
const MAIN = defaultChatUri(FROM);
const at = (name: string) => `ahp-chat:/${name}`;

interface FakeChat {
  readonly uri: string;
  /** The JSON of each turn, beside its id. */
  readonly turns?: readonly object[];
  readonly origin?: object;
  readonly state?: object;
}

async function setUp(...given: readonly FakeChat[]) {
  const log = new MemoryLog();
  const nothing = () => {};
  const clock = { now: () => 0, after: () => nothing };
  const delivery = new DirectDelivery({ shown: 0, logger: silentLogger, show: nothing });
  const writer = new Writer({ log, clock, logger: silentLogger, delivery, undone: nothing, superseded: nothing });
  const index = new ChatIndex(log, writer);
  const chats: Chat[] = [];
  for (const { uri, turns = [], origin, state } of given) {
    const items = turns.map((turn, each) => ({ id: `${each}`, json: JSON.stringify({ id: `${each}`, ...turn }) }));
    await log.append({
      ...{ entries: [], durability: 'normal' },
      archives: [{ channel: uri, head: '{}', turns: { start: 0, items } }],
    });
    const indexOfTurn = async (id: string) => (Number(id) < turns.length ? Number(id) : undefined);
    const all = { title: uri, modifiedAt: 'then', ...(origin && { origin }), ...state };
    chats.push({ uri, state: all, committed: all, turnCount: () => turns.length, indexOfTurn } as unknown as Chat);
  }
  const chatAt = (uri: string) => chats.find((chat) => chat.uri === uri);
  const source = { uri: FROM, chat: chats[0], chats, chatAt } as unknown as Session;
  const fork = (end: number, { folders }: { folders: readonly string[] | undefined } = { folders: [] }) =>
    copyForFork({ log, writer, chats: index }, { source, to: TO, end, folders });
  const stored = async (uri: string) =>
    (await log.archivedTurns(uri, { start: 0, end: 99 })).map(({ json }) => JSON.parse(json));
  return { log, index, fork, stored, writer };
}

const call = (toolCallId: string) => ({ responseParts: [{ kind: 'toolCall', toolCall: { toolCallId } }] });
const tool = (chat: string, toolCallId: string) => ({ kind: 'tool', chat, toolCallId });
const fromTurn = (chat: string, turnId?: string) => ({ kind: 'fork', chat, ...(turnId !== undefined && { turnId }) });

describe('a fork of a session', () => {
  it('[AHP-169] of an agent with one chat has its turns up to the end alone', async () => {
    const { fork, stored } = await setUp(
      { uri: MAIN, turns: [{ a: 1 }, { a: 2 }, { a: 3 }] },
      { uri: at('b'), turns: [{}] },
    );
    const copied = await fork(2, { folders: undefined });
    expect([copied, await stored(defaultChatUri(TO))]).toEqual([
      [],
      [
        { id: '0', a: 1 },
        { id: '1', a: 2 },
      ],
    ]);
  });

  it('[AHP-169] has the other chats under new names, which are written anew wherever a chat is named', async () => {
    const worker = workerChatUri(FROM, 'w');
    const names = { a: MAIN, b: at('free'), c: at('elsewhere'), d: `not "${MAIN}"`, e: `${MAIN}/x` };
    const { fork, stored, index } = await setUp(
      { uri: MAIN, turns: [{ names, ...call('w') }] },
      { uri: at('free'), turns: [{ names }, {}] },
      { uri: worker, origin: tool(MAIN, 'w') },
    );
    const copied = await fork(1);
    const [free = '', work = ''] = copied.map(({ resource }) => resource);
    expect([work, free]).toEqual([workerChatUri(TO, 'w'), expect.stringMatching(/^ahp-chat:\/[\da-f-]{36}$/)]);
    const expected = { ...names, a: defaultChatUri(TO), b: free };
    expect((await stored(defaultChatUri(TO))).map((turn) => turn.names)).toEqual([expected]);
    expect((await stored(free)).map((turn) => turn.names)).toEqual([expected, undefined]);
    expect(index.loose()).toEqual([
      [free, TO],
      [work, TO],
    ]);
    expect(copied[1]?.origin).toEqual(tool(defaultChatUri(TO), 'w'));
  });

  it('[AHP-169] takes another name where one is taken', async () => {
    const worker = workerChatUri(FROM, 'w');
    const { fork, index } = await setUp({ uri: MAIN, turns: [call('w')] }, { uri: worker, origin: tool(MAIN, 'w') });
    index.set(workerChatUri(TO, 'w'), 'ahp-session:/other');
    expect((await fork(1))[0]?.resource).toMatch(/^ahp-chat:\/[\da-f-]{36}$/);
  });

  it('[AHP-169] leaves out what belongs to a turn, a call or a chat that is not copied', async () => {
    const { fork } = await setUp(
      { uri: MAIN, turns: [call('early'), {}, call('late')], state: { activeTurn: { id: '9' } } },
      { uri: at('of nobody') },
      { uri: at('of a chat'), origin: fromTurn(MAIN) },
      { uri: at('early'), origin: fromTurn(MAIN, '1') },
      { uri: at('late'), origin: fromTurn(MAIN, '2') },
      { uri: at('running'), origin: fromTurn(MAIN, '9') },
      { uri: at('cut off'), origin: fromTurn(MAIN, '7') },
      { uri: at('of late'), origin: fromTurn(at('late')) },
      { uri: at('of early'), turns: [call('inner')], origin: fromTurn(at('early')) },
      { uri: at('of the gone'), origin: fromTurn(at('gone'), '0') },
      { uri: at('worker of early'), origin: tool(at('of early'), 'inner') },
      { uri: at('early worker'), origin: tool(MAIN, 'early') },
      { uri: at('late worker'), origin: tool(MAIN, 'late') },
      { uri: at('long'), turns: [{}, {}, {}, call('deep')], origin: fromTurn(MAIN, '0') },
      { uri: at('of its end'), origin: fromTurn(at('long'), '3') },
      { uri: at('deep worker'), origin: tool(at('long'), 'deep') },
      { uri: at('worker of the gone'), origin: tool(at('gone'), 'x') },
    );
    expect((await fork(2)).map(({ title }) => title.slice('ahp-chat:/'.length))).toEqual([
      ...['of nobody', 'of a chat', 'early', 'cut off', 'of early', 'of the gone', 'worker of early', 'early worker'],
      ...['long', 'of its end', 'deep worker'],
    ]);
  });

  it('[AHP-169] keeps a chat that was listed before the one that it belongs to', async () => {
    const { fork } = await setUp(
      { uri: MAIN, turns: [{}] },
      { uri: at('b'), origin: fromTurn(at('c')) },
      { uri: at('c') },
    );
    expect((await fork(1)).map(({ title }) => title)).toEqual([at('b'), at('c')]);
  });

  it('[AHP-169] shows chats that do nothing, in those of their folders that the fork has all of', async () => {
    const state = { interactivity: 'read-only', status: SessionStatus.InProgress, workingDirectories: ['a', 'b'] };
    const { fork } = await setUp({ uri: MAIN }, { uri: at('b'), state }, { uri: at('c') });
    const [both, plain] = await fork(0, { folders: ['a', 'b', 'c'] });
    expect(both).toEqual({
      ...{ resource: expect.any(String), title: at('b'), status: SessionStatus.Idle, modifiedAt: 'then' },
      ...{ interactivity: 'read-only', workingDirectories: ['a', 'b'] },
    });
    expect(Object.keys(plain ?? {})).toEqual(['resource', 'title', 'status', 'modifiedAt']);
    const one = await setUp({ uri: MAIN }, { uri: at('b'), state });
    expect((await one.fork(0, { folders: ['a'] }))[0]).not.toHaveProperty('workingDirectories');
  });

  it('[AHP-169] copies what the agent of a side chat knows, and of no other chat', async () => {
    const { fork, stored, log } = await setUp(
      { uri: MAIN },
      { uri: at('side'), origin: { kind: 'sideChat', chat: MAIN } as ChatOrigin },
      { uri: at('fork'), origin: fromTurn(MAIN) },
      { uri: sideContextUri(at('side')), turns: [{ told: 'this' }], origin: tool(at('gone'), 'x') },
      { uri: sideContextUri(at('fork')), turns: [{ told: 'that' }], origin: tool(at('gone'), 'x') },
    );
    const [side, other] = await fork(0);
    expect(await stored(sideContextUri(side?.resource ?? ''))).toEqual([{ id: '0', told: 'this' }]);
    expect(await log.archiveHead(sideContextUri(side?.resource ?? ''))).toMatchObject({ head: '{}', turnCount: 1 });
    expect(await stored(sideContextUri(other?.resource ?? ''))).toEqual([]);
  });

  it('[AHP-046] fails when a chat is cut off while it is copied', async () => {
    const { fork, log } = await setUp({ uri: MAIN }, { uri: at('b'), turns: [{}, {}] });
    vi.spyOn(log, 'findTurn').mockResolvedValue(undefined);
    await expect(fork(0)).rejects.toThrow(`/fork: ${at('b')} was cut off`);
  });
});
