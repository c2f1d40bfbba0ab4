import { CLIENT_GRACE_MS } from '@atrium/core/sessions/limits.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import type { SessionState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/fake-clock.js';
import { SlowLog } from '../../support/logs.js';
import { comparable, Mirror } from '../../support/mirror.js';
import { PuppetAgent } from '../../support/puppet-agent.js';
import { answerTo, lastText, startHost } from '../../support/session-fixture.js';
import { comparableSessionsV1, type SessionsV1Client, sessionsV1Client } from '../../support/sessions-v1-client.js';
import { ROOT, settle } from '../../support/test-host.js';

const uri = 'ahp-session:/one';
const session = 'mock:/one';
const turnStarted = (turnId: string, text: string) =>
  ({ type: 'session/turnStarted', session, turnId, userMessage: { text } }) as const;

/** One session, watched in all three versions. */
async function sideBySide(clock = new FakeClock()) {
  const agent = new PuppetAgent();
  const host = await startHost({ clock, agents: [agent] });
  const old = await sessionsV1Client(host, 'old');
  const middle = await host.client('middle', { protocolVersions: ['0.2.0'] });
  const now = await host.client('now');
  await now.session(uri);
  await middle.request('subscribe', { channel: uri });
  await old.subscribe(session);
  return { host, clock, agent, old, middle, now };
}

/** What the client sees is what a new client of its kind would see. */
async function expectInStep(host: Awaited<ReturnType<typeof startHost>>, old: SessionsV1Client): Promise<void> {
  const fresh = await sessionsV1Client(host, `fresh-${crypto.randomUUID()}`);
  const { state } = await fresh.subscribe(session);
  expect(old.mirror(session)).toEqual(comparableSessionsV1(state));
}

describe('sessions-v1 beside the others', () => {
  it('[V1-017][V1-018][V1-044][V1-047][V1-048][V1-055] all three see the same turn, each in its own words', async () => {
    const { host, old, middle, now } = await sideBySide();
    const clientSeq = old.dispatch(turnStarted('t1', 'hello'));
    expect(await old.answerTo(clientSeq)).toMatchObject({ action: turnStarted('t1', 'hello') });
    await old.action('session/turnComplete');
    expect(old.types(session)).toEqual(['session/turnStarted', 'session/delta', 'session/turnComplete']);
    expect(old.envelopes(session).every(({ action }) => 'session' in action)).toBe(true);
    await middle.action(uri, 'session/turnComplete');
    expect(middle.envelopes(uri)).toEqual(now.envelopes(uri).slice(-middle.envelopes(uri).length));
    const state = await now.state<SessionState>(uri);
    expect(lastText(state)).toBe('Hello there');
    for (const client of [middle, now]) {
      expect(new Mirror().takeAll(client.received).state(uri)).toEqual(comparable(state));
    }
    await expectInStep(host, old);
  });

  it('[V1-043][V1-072] what sessions-v1 may not ask for is rejected, to itself alone, in its own words', async () => {
    const { host, old, now } = await sideBySide();
    const other = await sessionsV1Client(host, 'other');
    await other.subscribe(session);
    const before = now.received.length;
    const action = { type: 'session/titleChanged', session, title: 'Mine' };
    const answer = await old.answerTo(old.dispatch(action));
    expect(answer).toMatchObject({ action, rejectionReason: expect.any(String) });
    await settle();
    expect(now.received).toHaveLength(before);
    expect(other.types()).toEqual([]);
    expect(await now.state(uri)).toMatchObject({ summary: { title: 'New session' } });
  });

  it('[V1-072][REL-012] a rejected action sent again is rejected again, and harms nobody', async () => {
    const { old, now } = await sideBySide();
    old.dispatch({ type: 'session/titleChanged', session, title: 'Mine' }, 5);
    old.dispatch({ type: 'session/titleChanged', session, title: 'Mine' }, 5);
    const clientSeq = now.dispatch(uri, { type: 'session/titleChanged', title: 'Theirs' });
    expect(await answerTo(now, uri, clientSeq)).toMatchObject({ action: { title: 'Theirs' } });
    await settle();
    old.dispatch({ type: 'session/titleChanged', session, title: 'Mine' }, 5);
    await settle();
    expect(old.envelopes().filter(({ rejectionReason }) => rejectionReason)).toHaveLength(3);
    expect(await now.state(uri)).toMatchObject({ summary: { title: 'Theirs' } });
  });

  it.each([-1, 1.5, 2 ** 53])(
    '[REL-013] an action that cannot be translated, with the number %d, is dropped',
    async (number) => {
      const { old, now } = await sideBySide();
      old.dispatch({ type: 'session/titleChanged', session, title: 'Mine' }, number);
      const clientSeq = now.dispatch(uri, { type: 'session/titleChanged', title: 'Theirs' });
      expect(await answerTo(now, uri, clientSeq)).toMatchObject({ action: { title: 'Theirs' } });
      await settle();
      expect(old.envelopes().filter(({ rejectionReason }) => rejectionReason)).toEqual([]);
    },
  );

  it('[V1-070][V1-072] answers come in the order of the questions: accepted and rejected alike', async () => {
    const { old } = await sideBySide();
    const asked = [
      old.dispatch(turnStarted('t1', 'slow')),
      old.dispatch({ type: 'session/titleChanged', session, title: 'No' }),
      old.dispatch({ type: 'session/modelChanged', session, model: 'small' }),
      old.dispatch(turnStarted('t2', 'hello')),
      old.dispatch({ type: 'session/turnCancelled', session, turnId: 't1' }),
      old.dispatch({ type: 'session/nonsense', session }),
    ];
    await old.answerTo(asked.at(-1) ?? 0);
    await settle();
    const answered = old.envelopes().flatMap(({ origin }) => (origin?.clientId === 'old' ? origin.clientSeq : []));
    expect(answered).toEqual(asked);
  });

  it('[V1-070] an action that meets the end of its session is not overtaken: the next answer comes behind the news', async () => {
    const log = new SlowLog();
    const host = await startHost({ log, clock: new FakeClock() });
    const old = await sessionsV1Client(host, 'old');
    const now = await host.client('now');
    await now.session(uri);
    await now.session('ahp-session:/two');
    await old.subscribe(session);
    const letThrough = log.hold('append');
    // While this is being stored, the end of the session and the answer come to wait for the same commit.
    now.dispatch(uri, { type: 'session/titleChanged', title: 'First' });
    await settle();
    const disposed = now.request('disposeSession', { channel: uri });
    await settle();
    old.dispatch(turnStarted('t1', 'hello'));
    const next = old.dispatch({ type: 'session/titleChanged', session: 'mock:/two', title: 'No' });
    await settle();
    letThrough();
    await Promise.all([disposed, old.answerTo(next)]);
    const heard = old.raw.received.map((message) => JSON.stringify(message));
    const indexOf = (text: string) => heard.findIndex((message) => message.includes(text));
    expect(indexOf('notify/sessionRemoved')).toBeGreaterThan(0);
    expect(indexOf('notify/sessionRemoved')).toBeLessThan(indexOf(`"clientSeq":${next}`));
  });

  it('[V1-060][V1-069][REL-019] what sessions-v1 does not know is just a gap in the numbers', async () => {
    const { host, old, now } = await sideBySide();
    now.dispatch(uri, { type: 'session/isReadChanged', isRead: true });
    now.dispatch(uri, { type: 'session/isArchivedChanged', isArchived: true });
    now.dispatch(uri, { type: 'session/titleChanged', title: 'Known' });
    const { serverSeq } = await now.action(uri, 'session/titleChanged');
    expect(await old.action('session/titleChanged')).toMatchObject({ serverSeq, action: { title: 'Known' } });
    expect(old.types(session)).toEqual(['session/titleChanged']);
    await expectInStep(host, old);
    old.dispatch(turnStarted('t1', 'hello'));
    expect((await old.action('session/turnComplete')).serverSeq).toBeGreaterThan(serverSeq);
  });
});

describe('permissions in sessions-v1', () => {
  it('[V1-051][V1-052][V1-053][V1-067][V1-068][V1-070] are asked for and given', async () => {
    const { host, old, middle } = await sideBySide();
    old.dispatch(turnStarted('t1', 'tool'));
    const { action, serverSeq } = await old.action('session/permissionRequest');
    expect(action).toMatchObject({ session, turnId: 't1', request: { requestId: 'c1#c1', toolCallId: 'c1' } });
    expect((await old.action('session/toolStart')).serverSeq).toBe(serverSeq);
    await expectInStep(host, old);
    const answer = { type: 'session/permissionResolved', session, turnId: 't1', requestId: 'c1#c1', approved: true };
    expect(await old.answerTo(old.dispatch(answer))).toMatchObject({ action: answer });
    await old.action('session/turnComplete');
    expect((await middle.action(uri, 'session/toolCallConfirmed')).action).toMatchObject({
      toolCallId: 'c1',
      approved: true,
      confirmed: 'user-action',
    });
    expect(lastText(await middle.state<SessionState>(uri))).toBe('result: done');
    await expectInStep(host, old);
  });

  it('[V1-053][V1-062] are refused', async () => {
    const { host, old, now } = await sideBySide();
    old.dispatch(turnStarted('t1', 'tool'));
    await old.action('session/permissionRequest');
    old.dispatch({ type: 'session/permissionResolved', session, turnId: 't1', requestId: 'c1#c1', approved: false });
    await old.action('session/turnComplete');
    expect(old.types(session)).not.toContain('session/toolComplete');
    expect((await now.action(uri, 'session/toolCallConfirmed')).action).toMatchObject({
      approved: false,
      reason: 'denied',
    });
    await expectInStep(host, old);
  });

  it('[V1-053] that someone else gave are settled: a late answer is rejected', async () => {
    const { old, now } = await sideBySide();
    old.dispatch(turnStarted('t1', 'tool'));
    await old.action('session/permissionRequest');
    const call = { turnId: 't1', toolCallId: 'c1', approved: true, confirmed: 'user-action' };
    now.dispatch(uri, { type: 'session/toolCallConfirmed', ...call } as never);
    await old.action('session/permissionResolved');
    const late = { type: 'session/permissionResolved', session, turnId: 't1', requestId: 'c1#c1', approved: false };
    expect((await old.answerTo(old.dispatch(late))).rejectionReason).toEqual(expect.any(String));
  });
});

describe('what sessions-v1 cannot say', () => {
  it('[V1-071] a change of model during a turn is echoed at once; what comes when it is applied is no second echo', async () => {
    const { host, old, middle, now } = await sideBySide();
    old.dispatch(turnStarted('t1', 'slow'));
    await old.action('session/delta');
    const change = { type: 'session/modelChanged', session, model: 'small' };
    const clientSeq = old.dispatch(change);
    expect(await old.answerTo(clientSeq)).toMatchObject({ action: change });
    expect(await now.state(uri)).toMatchObject({ activeTurn: { id: 't1' } });
    expect(now.types(uri)).not.toContain('session/modelChanged');
    now.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    const applied = await middle.action(uri, 'session/modelChanged');
    expect(applied).toMatchObject({ action: { model: { id: 'small' } }, origin: { clientId: 'old', clientSeq } });
    await settle();
    const changes = old.envelopes(session).filter((envelope) => envelope.action.type === 'session/modelChanged');
    expect(changes.filter(({ origin }) => origin)).toHaveLength(1);
    expect(changes[0]?.origin).toEqual({ clientId: 'old', clientSeq });
    await expectInStep(host, old);
  });

  it('[V1-071] is told what the model is in the end, when somebody else had asked for another before', async () => {
    const { host, old, now } = await sideBySide();
    old.dispatch(turnStarted('t1', 'slow'));
    await old.action('session/delta');
    now.dispatch(uri, { type: 'session/modelChanged', model: { id: 'large' } });
    await settle();
    await old.answerTo(old.dispatch({ type: 'session/modelChanged', session, model: 'small' }));
    now.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await now.action(uri, (action) => JSON.stringify(action).includes('small'));
    await settle();
    expect(await now.state(uri)).toMatchObject({ summary: { model: { id: 'small' } } });
    await expectInStep(host, old);
  });

  it('[V1-071] another sessions-v1 client hears of it when it is applied', async () => {
    const { host, old, now } = await sideBySide();
    const second = await sessionsV1Client(host, 'second', 'agenthost:/root');
    await second.subscribe(session);
    old.dispatch(turnStarted('t1', 'slow'));
    await old.action('session/delta');
    await old.answerTo(old.dispatch({ type: 'session/modelChanged', session, model: 'small' }));
    await settle();
    expect(second.types(session)).not.toContain('session/modelChanged');
    now.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    expect((await second.action('session/modelChanged')).action).toMatchObject({ model: 'small' });
  });

  it('[V1-061] a cut of history closes the connection; coming back it gets a snapshot', async () => {
    const { host, old, middle, now } = await sideBySide();
    for (const id of ['t1', 't2']) await now.turn(uri, 'hello', id);
    await old.action(({ action }) => action.type === 'session/turnComplete' && action.turnId === 't2');
    const elsewhere = await sessionsV1Client(host, 'elsewhere');
    now.dispatch(uri, { type: 'session/truncated', turnId: 't1' });
    expect(await old.raw.untilClosed()).toMatchObject({ code: CloseCode.SnapshotNeeded });
    await middle.action(uri, 'session/truncated');
    expect([middle, now, elsewhere.raw].map(({ closed }) => closed)).toEqual([undefined, undefined, undefined]);
    const again = host.connect();
    const result = await again.request('reconnect', {
      clientId: 'old',
      lastSeenServerSeq: 1_000,
      subscriptions: ['agenthost:root', session],
    });
    expect(result).toMatchObject({ type: 'snapshot', snapshots: [{}, { state: { turns: [{ id: 't1' }] } }] });
  });

  it('[V1-063] a question that only sessions-v1 clients could hear is cancelled after a while', async () => {
    const { clock, old, middle, now } = await sideBySide();
    middle.disconnect();
    now.disconnect();
    old.dispatch(turnStarted('t1', 'ask'));
    await settle();
    await clock.advance(CLIENT_GRACE_MS - 1);
    expect(old.types(session)).not.toContain('session/turnComplete');
    await clock.advance(1);
    await old.action('session/turnComplete');
  });

  it('[V1-063] someone who can answer is given all the time there is; when the last of them leaves, it is cancelled', async () => {
    const { clock, old, middle, now } = await sideBySide();
    old.dispatch(turnStarted('t1', 'ask'));
    await now.action(uri, 'session/inputRequested');
    await clock.advance(10 * CLIENT_GRACE_MS);
    expect(await now.state(uri)).toMatchObject({ inputRequests: [{ id: 'q' }] });
    middle.disconnect();
    now.disconnect();
    await clock.advance(CLIENT_GRACE_MS);
    await old.action('session/turnComplete');
  });

  it('[V1-063] an answer in time is taken', async () => {
    const { clock, old, now } = await sideBySide();
    old.dispatch(turnStarted('t1', 'ask'));
    await now.action(uri, 'session/inputRequested');
    const answers = { name: { state: 'submitted', value: { kind: 'text', value: 'Importer' } } };
    now.dispatch(uri, { type: 'session/inputCompleted', requestId: 'q', response: 'accept', answers } as never);
    await old.action('session/turnComplete');
    await clock.advance(2 * CLIENT_GRACE_MS);
    expect(now.types(uri).filter((type) => type === 'session/inputCompleted')).toHaveLength(1);
    expect(await now.request('ping', { channel: ROOT })).toBeNull();
  });
});
