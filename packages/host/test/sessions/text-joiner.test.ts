/** What an agent says quickly becomes fewer actions, even fewer while many watch, and the same turn in the end. */

import type { AgentTurn, BegunCall } from '@atrium/core/contracts/agent.js';
import { type ChatAction, type ChatState, chatReducer } from '@atrium/protocol/ahp-1';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { KeptLog } from '../support/logs.js';
import { nativeClient, nativeSession, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { startHost } from '../support/session-fixture.js';
import { type RawClient, settle, type TestHostOptions } from '../support/test-host.js';

const MANY = 50;

async function openWatched(watchers: number, options: Omit<TestHostOptions, 'agents' | 'clock'> = {}) {
  const clock = new FakeClock();
  const agent = new PuppetAgent();
  const host = await startHost({ ...options, clock, agents: [agent] });
  const client = await nativeClient(host, 'desk');
  const { uri, chat } = await nativeSession(client, { provider: 'puppet' });
  const others: RawClient[] = [];
  for (let count = 1; count < watchers; count++) {
    const other = await nativeClient(host, `watcher-${count}`);
    await other.request('subscribe', { channel: chat });
    others.push(other);
  }
  const start = async (turnId: string) => {
    const index = agent.turns.length;
    client.dispatch(chat, { type: 'chat/turnStarted', turnId, message: userMessage('go') } as { type: string });
    return agent.turn(index);
  };
  const actions = () => actionsOf(client, chat);
  const deltas = () => deltasOf(client, chat);
  const state = () => client.state<ChatState>(chat);
  return { clock, host, client, uri, chat, others, start, actions, deltas, state };
}

function actionsOf(client: RawClient, chat: string): ChatAction[] {
  return client.envelopes(chat).map(({ action }) => action as unknown as ChatAction);
}

function deltasOf(client: RawClient, chat: string): string[] {
  return actionsOf(client, chat).flatMap((action) => (action.type === 'chat/delta' ? [action.content] : []));
}

const word = fc.string({ minLength: 1, maxLength: 6 });
const what = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('text' as const), word }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('reasoning' as const), word }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('input' as const), call: fc.nat(1), word }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('output' as const), word }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('note' as const), word }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('usage' as const), tokens: fc.nat(9) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('tick' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rename' as const), word }) },
);
const play = fc.record({
  happens: fc.array(what, { maxLength: 40 }),
  end: fc.constantFrom('finish', 'fail', 'cancel'),
});
type Play = typeof play extends fc.Arbitrary<infer T> ? T : never;
type Watched = Awaited<ReturnType<typeof openWatched>>;

/** Lets a turn say all of it, and gives the turn as it is stored. */
async function played({ clock, client, uri, chat, start, state }: Watched, turnId: string, { happens, end }: Play) {
  const { turn, finish, fail } = await start(turnId);
  const calls: BegunCall[] = [];
  const call = (index: number) => {
    calls[index] ??= turn.beginCall({ id: `${turnId}-call-${index}`, name: 'unknown' });
    return calls[index];
  };
  const running = onceRunning(turn, turnId);
  for (const step of happens) {
    if (step.kind === 'text') turn.text(step.word);
    else if (step.kind === 'reasoning') turn.reasoning(step.word);
    else if (step.kind === 'input') call(step.call).delta(step.word);
    else if (step.kind === 'output') running().progress([{ type: 'text', text: step.word }]);
    else if (step.kind === 'note') turn.notify(step.word);
    else if (step.kind === 'usage') turn.usage({ inputTokens: step.tokens });
    else if (step.kind === 'rename') client.dispatch(uri, { type: 'session/titleChanged', title: step.word });
    else if (step.kind === 'wait') await clock.advance(step.milliseconds);
    else await settle(1);
  }
  if (end === 'finish') finish();
  else if (end === 'fail') fail(new Error('broke'));
  else client.dispatch(chat, { type: 'chat/turnCancelled', turnId, duration: 0 } as { type: string });
  await expect.poll(async () => (await state()).turns.at(-1)?.id).toBe(turnId);
  const { turns } = await state();
  finish();
  return turns.at(-1);
}

function onceRunning(turn: AgentTurn, turnId: string) {
  let call: ReturnType<AgentTurn['agentRunCall']> | undefined;
  return () => {
    if (call) return call;
    call = turn.agentRunCall({ id: `${turnId}-own`, name: 'own', displayName: 'Own' });
    call.shown({}, 'Running');
    return call;
  };
}

describe('text of a turn', () => {
  it('[REL-080] is the same with and without a window, in the same order, whatever comes in between', async () => {
    const plain = await openWatched(1, { joinText: false });
    const few = await openWatched(1);
    const many = await openWatched(MANY);
    let count = 0;
    await fc.assert(
      fc.asyncProperty(play, async (chosen) => {
        const turnId = `t${++count}`;
        const [expected, ...others] = await Promise.all([plain, few, many].map((one) => played(one, turnId, chosen)));
        for (const turn of others) {
          expect(turn?.responseParts).toEqual(expected?.responseParts);
          expect([turn?.state, turn?.usage]).toEqual([expected?.state, expected?.usage]);
        }
      }),
      { numRuns: 60 },
    );
    // Never more actions for it, and whoever only heard the actions has the same state.
    expect(few.actions().length).toBeLessThanOrEqual(plain.actions().length);
    expect(many.actions().length).toBeLessThanOrEqual(few.actions().length);
    const { others, chat, state } = many;
    for (const watcher of others.slice(0, 2)) {
      const heard = actionsOf(watcher, chat);
      const first = { ...(await state()), turns: [], activeTurn: undefined } as unknown as ChatState;
      const { turns } = heard.reduce(chatReducer, first);
      expect(turns.map(({ responseParts }) => responseParts)).toEqual(
        (await state()).turns.map(({ responseParts }) => responseParts),
      );
    }
  }, 120_000);

  it('[REL-080] waits for no longer than a screen needs for a frame, and for two when many watch', async () => {
    const one = await openWatched(1);
    const many = await openWatched(MANY);
    for (const { start, clock } of [one, many]) {
      const { turn } = await start('t');
      for (const piece of ['a', 'b', 'c', 'd', 'e']) {
        turn.text(piece);
        await settle();
        await clock.advance(8);
      }
      await clock.advance(33);
    }
    expect(one.deltas()).toEqual(['a', 'b', 'cd', 'e']);
    expect(many.deltas()).toEqual(['a', 'bcde']);
  });

  it('[REL-080] goes out before a person cancels, and nothing of it behind that', async () => {
    const { client, chat, start, deltas, state, clock } = await openWatched(MANY);
    const { turn } = await start('t');
    turn.text('a');
    await settle();
    turn.text('b');
    client.dispatch(chat, { type: 'chat/turnCancelled', turnId: 't', duration: 0 } as { type: string });
    await client.action(chat, 'chat/turnCancelled');
    turn.text('c');
    await clock.advance(100);
    expect(deltas()).toEqual(['a', 'b']);
    expect((await state()).turns.at(-1)?.responseParts).toMatchObject([{ content: 'ab' }]);
  });

  it('[REL-080] is stored when the host stops in good order', async () => {
    const log = new KeptLog();
    const { host, chat, start, clock } = await openWatched(MANY, { log });
    const { turn } = await start('t');
    turn.text('a');
    await settle();
    turn.text('b');
    await host.stop();
    const again = await startHost({ log, clock, agents: [new PuppetAgent()] });
    const client = await nativeClient(again, 'phone');
    const { turns } = await client.state<ChatState>(chat);
    expect(turns.at(-1)?.responseParts).toMatchObject([{ content: 'ab' }, { kind: 'error' }]);
  });

  it('[REL-080] is lost with a host that is killed only where nobody has seen it', async () => {
    const log = new KeptLog();
    const { chat, others, start, deltas, clock } = await openWatched(MANY, { log });
    const { turn } = await start('t');
    turn.text('a');
    await settle();
    turn.text('b');
    await settle();
    // From here on nothing of this host reaches the disk.
    const append = log.append.bind(log);
    let bury = (_error: Error) => {};
    log.append = () => new Promise((_, reject) => (bury = reject));
    onTestFinished(() => bury(new Error('killed')));
    await clock.advance(100);
    const seen = [deltas(), ...others.map((other) => deltasOf(other, chat))];
    expect(seen).toEqual(seen.map(() => ['a']));
    log.append = append;
    const again = await startHost({ log, clock, agents: [new PuppetAgent()] });
    const { turns } = await (await nativeClient(again, 'phone')).state<ChatState>(chat);
    expect(turns.at(-1)?.responseParts).toMatchObject([{ content: 'a' }, { kind: 'error' }]);
  });

  it('[REL-080] [UP-030] waits for nobody while one of many watchers forbids it, and no longer than each lets it', async () => {
    const { host, chat, start, deltas, clock } = await openWatched(MANY);
    const patient = await nativeClient(host, 'patient');
    await patient.request('subscribe', { channel: chat, delivery: { maxLatencyMs: 40 } });
    const { turn } = await start('t');
    const heard = () => deltasOf(patient, chat);
    turn.text('a');
    await settle();
    turn.text('b');
    await clock.advance(33);
    expect([deltas(), heard()]).toEqual([['a', 'b'], ['a']]);
    // 33 ms of its 40 were spent already.
    await clock.advance(7);
    expect(heard()).toEqual(['a', 'b']);
    const eager = await nativeClient(host, 'eager');
    await eager.request('subscribe', { channel: chat, delivery: { maxLatencyMs: 0 } });
    await clock.advance(100);
    for (const piece of ['c', 'd', 'e']) {
      turn.text(piece);
      await settle();
    }
    expect(deltas()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('is an action for each piece where that is chosen', async () => {
    const { start, deltas } = await openWatched(MANY, { joinText: false });
    const { turn } = await start('t');
    for (const piece of ['a', 'b', 'c']) turn.text(piece);
    await settle();
    expect(deltas()).toEqual(['a', 'b', 'c']);
  });
});
