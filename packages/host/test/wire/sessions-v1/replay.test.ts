/** Coming back in sessions-v1: what was missed, action by action, wherever sessions-v1 can say it. */

import { encodedOf, type NumberedMessage } from '@atrium/core/wire/encoding.js';
import { outgoing } from '@atrium/core/wire/frames.js';
import { TranslatedReplay } from '@atrium/core/wire/replay.js';
import type { SessionsV1ActionEnvelope, SessionsV1SessionState } from '@atrium/protocol/dialects';
import { describe, expect, it } from 'vitest';
import { applySessionsV1 } from '../../../../protocol/test/support/sessions-v1-client.js';
import { KeptLog } from '../../support/logs.js';
import { PuppetAgent } from '../../support/puppet-agent.js';
import { type Fixture, openFixture, startHost, turnStarted } from '../../support/session-fixture.js';
import { comparableSessionsV1, type SessionsV1Client, sessionsV1Client } from '../../support/sessions-v1-client.js';
import { ROOT, settle } from '../../support/test-host.js';

interface Resumed extends Record<string, unknown> {
  readonly type: 'replay' | 'snapshot';
  readonly actions: readonly SessionsV1ActionEnvelope[];
}

const nameOf = (uri: string) => uri.replace('ahp-session:', 'mock:');

async function watching(fixture: Fixture, root: SessionsV1Client['root'] = 'agenthost:root') {
  const session = nameOf(fixture.uri);
  const old = await sessionsV1Client(fixture.host, 'old', root);
  const { state, fromSeq } = await old.subscribe(session);
  return { session, old, state: state as SessionsV1SessionState, fromSeq };
}

async function comeBack({ host }: Pick<Fixture, 'host'>, lastSeenServerSeq: number, subscriptions: readonly string[]) {
  const raw = host.connect();
  const result = await raw.request<Resumed>('reconnect', { clientId: 'old', lastSeenServerSeq, subscriptions });
  return { raw, result };
}

describe('a client of sessions-v1 that was away', () => {
  it('[V1-074] is told a turn with text, a question and its answer, one by one, and sees what a newcomer sees', async () => {
    const fixture = await openFixture();
    const { session, old, state, fromSeq } = await watching(fixture);
    old.raw.disconnect();
    await fixture.client.turn(fixture.uri, 'hello');
    fixture.client.dispatch(fixture.uri, turnStarted('t2', 'tool'));
    await fixture.client.action(fixture.uri, 'session/toolCallReady');
    const confirm = { type: 'session/toolCallConfirmed', turnId: 't2', toolCallId: 'c1', approved: true } as const;
    fixture.client.dispatch(fixture.uri, { ...confirm, confirmed: 'user-action' });
    await fixture.client.action(fixture.uri, ({ type, turnId }) => type === 'session/turnComplete' && turnId === 't2');
    const { raw, result } = await comeBack(fixture, fromSeq, ['agenthost:root', session]);
    expect(Object.keys(result)).toEqual(['type', 'actions']);
    expect(result.type).toBe('replay');
    expect(result.actions.map(({ action }) => action.type)).toContain('session/permissionRequest');
    const numbers = result.actions.map(({ serverSeq }) => serverSeq);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    const seen = result.actions.reduce(applySessionsV1, state);
    const fresh = (await raw.request('subscribe', { resource: session })) as unknown as { state: unknown };
    expect(comparableSessionsV1(seen)).toEqual(comparableSessionsV1(fresh.state));
    fixture.client.dispatch(fixture.uri, { type: 'session/titleChanged', title: 'Live again' });
    await raw.until(({ params }) => JSON.stringify(params ?? '').includes('Live again'));
  });

  it('[V1-074] is told what the root did meanwhile, behind the number that it saw, between what its session did', async () => {
    let tell = () => {};
    const agent = Object.assign(new PuppetAgent(), {
      whenInfoChanges: (told: () => void) => {
        tell = told;
      },
    });
    const fixture = await openFixture({ agent });
    const { session, old, fromSeq } = await watching(fixture);
    const name = async (displayName: string) => {
      Object.assign(agent, { info: { ...agent.info, displayName } });
      tell();
      await fixture.client.action(ROOT, ({ agents }) => JSON.stringify(agents ?? '').includes(displayName));
    };
    const call = async (title: string) => {
      fixture.client.dispatch(fixture.uri, { type: 'session/titleChanged', title });
      await fixture.client.action(fixture.uri, (action) => (action as { title?: string }).title === title);
    };
    await name('First name');
    const seen = await old.action('root/agentsChanged');
    old.raw.disconnect();
    await call('one');
    await name('Second name');
    await call('two');
    const told = async (lastSeen: number, subscriptions: readonly string[]) =>
      (await comeBack(fixture, lastSeen, subscriptions)).result.actions.map(({ action }) => action.type);
    const [title, agents] = ['session/titleChanged', 'root/agentsChanged'];
    const both = ['agenthost:root', session];
    expect(seen.serverSeq).toBeGreaterThan(fromSeq);
    expect(await told(seen.serverSeq, both)).toEqual([title, agents, title]);
    expect(await told(seen.serverSeq - 1, both)).toEqual([agents, title, agents, title]);
    expect(await told(seen.serverSeq, ['agenthost:root'])).toEqual([agents]);
    expect(await told(seen.serverSeq, [session])).toEqual([title, title]);
  });

  it('[V1-074] and missed nothing is told nothing', async () => {
    const fixture = await openFixture();
    const { session, old, fromSeq } = await watching(fixture);
    old.raw.disconnect();
    expect((await comeBack(fixture, fromSeq, ['agenthost:root', session])).result).toEqual({
      type: 'replay',
      actions: [],
    });
  });

  it('[V1-074] gets a snapshot when history was cut, and a replay the next time', async () => {
    const fixture = await openFixture();
    const { session, old, fromSeq } = await watching(fixture);
    await fixture.client.turn(fixture.uri, 'hello', 't1');
    old.raw.disconnect();
    fixture.client.dispatch(fixture.uri, { type: 'session/truncated' });
    await fixture.client.action(fixture.uri, 'session/truncated');
    await fixture.client.turn(fixture.uri, 'hello', 't2');
    const first = await comeBack(fixture, fromSeq, [session]);
    expect(first.result).toMatchObject({ type: 'snapshot', snapshots: [{ state: { turns: [{ id: 't2' }] } }] });
    const [snapshot] = first.result.snapshots as { fromSeq: number }[];
    first.raw.disconnect();
    await fixture.client.turn(fixture.uri, 'hello', 't3');
    const second = await comeBack(fixture, snapshot?.fromSeq ?? 0, [session]);
    expect(second.result.type).toBe('replay');
    expect(second.result.actions.at(-1)?.action).toMatchObject({ type: 'session/turnComplete', turnId: 't3' });
  });

  it('[V1-074] gets a snapshot of what it never watched, of what is gone, and after a restart', async () => {
    const log = new KeptLog();
    const fixture = await openFixture({ log });
    const { session, old, fromSeq } = await watching(fixture);
    const other = await fixture.client.session();
    old.raw.disconnect();
    await fixture.client.turn(other, 'hello');
    await fixture.client.turn(fixture.uri, 'hello');
    for (const subscriptions of [[nameOf(other)], [session, 'mock:/gone']]) {
      expect((await comeBack(fixture, fromSeq, subscriptions)).result.type).toBe('snapshot');
    }
    await fixture.host.stop();
    const restarted = { host: await startHost({ log, clock: fixture.clock }) };
    expect((await comeBack(restarted, fromSeq, [session])).result.type).toBe('snapshot');
  });
});

describe('a client that spells the root agenthost:/root', () => {
  it('[V1-018] gets actions flat and wrapped in one message, also merged ones, echoes and rejections', async () => {
    const fixture = await openFixture();
    const { session, old } = await watching(fixture, 'agenthost:/root');
    old.raw.bufferedBytes = 1_000_000;
    old.dispatch({ type: 'session/turnStarted', session, turnId: 't1', userMessage: { text: 'hello' } });
    await settle();
    old.raw.bufferedBytes = 0;
    old.raw.drain();
    await old.action('session/turnComplete');
    old.dispatch({ type: 'session/turnCancelled', session, turnId: 'none' });
    await old.action(({ rejectionReason }) => rejectionReason !== undefined);
    const actions = old.raw.received.filter(({ method }) => method === 'action');
    expect(actions.length).toBeGreaterThan(3);
    for (const { params } of actions) {
      const { envelope, ...flat } = params ?? {};
      expect(flat).toEqual(envelope);
    }
  });

  it('[V1-018] is still known by that after a reconnect that does not name the root', async () => {
    const fixture = await openFixture();
    const { session, old, fromSeq } = await watching(fixture, 'agenthost:/root');
    old.raw.disconnect();
    const { raw } = await comeBack(fixture, fromSeq, [session]);
    fixture.client.dispatch(fixture.uri, { type: 'session/titleChanged', title: 'Flat' });
    const { params } = await raw.until(({ method }) => method === 'action');
    expect(params).toMatchObject({ serverSeq: expect.any(Number), envelope: { action: { title: 'Flat' } } });
  });

  it('[V1-018] is the only one: the other generation gets the wrapped form alone', async () => {
    const fixture = await openFixture();
    const { old } = await watching(fixture);
    fixture.client.dispatch(fixture.uri, { type: 'session/titleChanged', title: 'Wrapped' });
    await old.action('session/titleChanged');
    const { params } = old.raw.received.find(({ method }) => method === 'action') ?? {};
    expect(Object.keys(params ?? {})).toEqual(['envelope']);
  });
});

describe('what is kept in translation', () => {
  const message = (seq: number): NumberedMessage => ({ seq, origin: undefined, message: outgoing({ seq }) });
  const limits = { messages: 3, bytes: 10_000 };
  const watched = (upTo: number) => ({ first: upTo, upTo, isWatched: true });
  const unwatched = (upTo: number) => ({ first: upTo, upTo, isWatched: false });

  it('[V1-074] does not guess whether all messages of one number arrived', () => {
    const replay = new TranslatedReplay(limits);
    replay.follow('s', 10);
    replay.add('s', encodedOf([message(11), message(12), message(12)]), watched(12));
    expect(replay.after('s', 12)).toBeUndefined();
    expect(replay.after('s', 11)?.map(({ seq }) => seq)).toEqual([12, 12]);
    expect(replay.after('s', 9)).toBeUndefined();
  });

  it('[V1-074] is bounded, and no longer translated once all who left need a snapshot', () => {
    const replay = new TranslatedReplay(limits);
    replay.follow('s', 0);
    for (let seq = 1; seq <= 5; seq++) replay.add('s', encodedOf([message(seq)]), watched(seq));
    expect([replay.after('s', 2), replay.after('s', 3)?.length]).toEqual([undefined, 2]);
    for (let seq = 6; seq <= 7; seq++) replay.add('s', encodedOf([message(seq)]), unwatched(seq));
    expect(replay.isFollowed('s')).toBe(true);
    replay.add('s', encodedOf([message(8)]), unwatched(8));
    expect(replay.isFollowed('s')).toBe(false);
  });
});
