import { STORE_RETRY_MS } from '@atrium/core/channels/limits.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { CLIENT_GRACE_MS, IDLE_SESSION_MS } from '@atrium/core/sessions/limits.js';
import { textWindowMs } from '@atrium/core/sessions/text-joiner.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import { ErrorCode } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { type FailingLog, failingLog } from '../support/failing-log.js';
import { FakeClock } from '../support/fake-clock.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import {
  answerTo,
  lastText,
  openFixture,
  openPuppetFixture,
  refusalOf,
  startHost,
  stateOf,
  textIn,
  turnStarted,
} from '../support/session-fixture.js';
import { type RawClient, ROOT, settle, type TestHost } from '../support/test-host.js';

const TEXT_WINDOW_MS = textWindowMs({ count: 1 });

/** The same client on a new connection, with what it never heard of. */
async function resume(host: TestHost, client: RawClient, uri: string, pending: number[]) {
  const again = host.connect();
  again.continue(client);
  const result = await again.request<{ settled: number[] }>('reconnect', {
    channel: ROOT,
    clientId: client.clientId,
    lastSeenServerSeq: host.log.head,
    subscriptions: [uri],
    pending,
  });
  return { again, settled: result.settled };
}

async function failingFixture() {
  const log: FailingLog = failingLog();
  return { log, ...(await openFixture({ log })) };
}

async function failingPuppetFixture() {
  const log: FailingLog = failingLog();
  return { log, ...(await openPuppetFixture({ log })) };
}

describe('an action that cannot be stored', () => {
  it('is seen by nobody, and the state is what it was', async () => {
    const { client, uri, log, join } = await failingFixture();
    const phone = await join('phone');
    const before = await stateOf(phone, uri);
    const [seen, head] = [phone.received.length, log.head];
    log.failNext();
    client.dispatch(uri, { type: 'session/titleChanged', title: 'lost' });
    await settle();
    expect(log.failures).toBe(1);
    expect(log.head).toBe(head);
    expect(phone.received).toHaveLength(seen);
    expect(await stateOf(phone, uri)).toEqual(before);
    const { items } = await phone.request<{ items: unknown[] }>('listSessions', { channel: ROOT });
    expect(items).toEqual([before.summary]);
  });

  it('sends the client that asked for it away, and nobody else', async () => {
    const { client, uri, log, join } = await failingFixture();
    const phone = await join('phone');
    log.failNext();
    client.dispatch(uri, { type: 'session/titleChanged', title: 'lost' });
    expect(await client.untilClosed()).toMatchObject({ code: CloseCode.NotStored });
    expect(phone.closed).toBeUndefined();
    expect(await refusalOf(phone, uri, { type: 'session/titleChanged', title: 'mine' })).toBeUndefined();
  });

  it('is taken when it is sent again under the same number, once', async () => {
    const { client, uri, log, host } = await failingFixture();
    log.failNext();
    const lost = client.dispatch(uri, { type: 'session/titleChanged', title: 'kept after all' });
    await client.untilClosed();
    const { again, settled } = await resume(host, client, uri, [lost]);
    expect(settled).toEqual([]);
    again.dispatch(uri, { type: 'session/titleChanged', title: 'kept after all' }, lost);
    again.dispatch(uri, { type: 'session/titleChanged', title: 'kept after all' }, lost);
    expect(await answerTo(again, uri, lost)).toMatchObject({ action: { title: 'kept after all' } });
    await settle();
    expect((await stateOf(again, uri)).summary.title).toBe('kept after all');
    expect(again.types(uri)).toEqual(['session/titleChanged']);
  });

  it('takes everything of its tick with it, and everything that was built on it meanwhile', async () => {
    const { client, uri, log, host, join } = await failingFixture();
    const phone = await join('phone');
    const release = log.hold();
    log.failNext();
    const first = client.dispatch(uri, { type: 'session/titleChanged', title: 'one' });
    await settle();
    const second = phone.dispatch(uri, { type: 'session/isArchivedChanged', isArchived: true });
    await settle();
    release();
    await Promise.all([client.untilClosed(), phone.untilClosed()]);
    const back = await resume(host, phone, uri, [second]);
    const state = await stateOf(back.again, uri);
    expect(state.summary.status & 64).toBe(0);
    expect(state.summary.title).not.toBe('one');
    back.again.dispatch(uri, { type: 'session/isArchivedChanged', isArchived: true }, second);
    await answerTo(back.again, uri, second);
    const { again } = await resume(host, client, uri, [first]);
    again.dispatch(uri, { type: 'session/titleChanged', title: 'one' }, first);
    await answerTo(again, uri, first);
    expect((await stateOf(again, uri)).summary).toMatchObject({ title: 'one', status: 65 });
  });

  it('does not use up a number that somebody else then gets in vain', async () => {
    const { client, uri, log, join } = await failingFixture();
    const phone = await join('phone');
    const head = log.head;
    log.failNext();
    client.dispatch(uri, { type: 'session/titleChanged', title: 'lost' });
    await client.untilClosed();
    const clientSeq = phone.dispatch(uri, { type: 'session/titleChanged', title: 'kept' });
    expect((await answerTo(phone, uri, clientSeq)).serverSeq).toBe(head + 1);
  });

  it('may be a rejection: it is told when the action is sent again', async () => {
    const { client, uri, log, host } = await failingFixture();
    log.failNext();
    const lost = client.dispatch(uri, { type: 'session/turnCancelled', turnId: 'nowhere' });
    await client.untilClosed();
    const { again } = await resume(host, client, uri, [lost]);
    again.dispatch(uri, { type: 'session/turnCancelled', turnId: 'nowhere' }, lost);
    expect((await answerTo(again, uri, lost)).rejectionReason).toContain('no turn');
  });

  it('may be one that was held for the end of a turn: it waits again, and is taken once', async () => {
    const { client, uri, log, host, join } = await failingPuppetFixture();
    const phone = await join('phone');
    const held = client.dispatch(uri, { type: 'session/modelChanged', model: { id: 'new' } });
    await settle();
    log.failNext();
    const lost = phone.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await phone.untilClosed();
    expect(client.closed).toBeUndefined();
    client.dispatch(uri, { type: 'session/modelChanged', model: { id: 'new' } }, held);
    const { again } = await resume(host, phone, uri, [lost]);
    again.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' }, lost);
    await answerTo(client, uri, held);
    await settle();
    expect(client.types(uri).filter((type) => type === 'session/modelChanged')).toHaveLength(1);
    expect((await stateOf(again, uri)).summary.model).toEqual({ id: 'new' });
    expect(log.failures).toBe(1);
  });

  it('does not take those with it that were held for the end of a turn that never was', async () => {
    const { client, uri, log, host, join, puppet } = await failingPuppetFixture();
    const phone = await join('phone');
    const first = phone.dispatch(uri, { type: 'session/modelChanged', model: { id: 'first' } });
    await settle();
    const release = log.hold();
    log.failNext();
    puppet.finish();
    await settle();
    const lost = client.dispatch(uri, turnStarted('t2'));
    await settle();
    const second = phone.dispatch(uri, { type: 'session/modelChanged', model: { id: 'second' } });
    await settle();
    release();
    await client.untilClosed();
    const { again } = await resume(host, client, uri, [lost]);
    await refusalOf(again, uri, { type: 'session/turnCancelled', turnId: 't1' });
    for (const clientSeq of [first, second]) await answerTo(phone, uri, clientSeq);
    expect((await stateOf(again, uri)).summary.model).toEqual({ id: 'second' });
  });

  it('leaves a turn alone that only waits for a person, who then answers again', async () => {
    const { client, uri, log, host, puppet } = await failingPuppetFixture();
    const outcome = puppet.turn.ask({ id: 'q', message: 'Well?' });
    await client.action(uri, 'session/inputRequested');
    log.failNext();
    const lost = client.dispatch(uri, { type: 'session/inputCompleted', requestId: 'q', response: 'accept' });
    await client.untilClosed();
    const { again } = await resume(host, client, uri, [lost]);
    expect((await stateOf(again, uri)).inputRequests).toHaveLength(1);
    again.dispatch(uri, { type: 'session/inputCompleted', requestId: 'q', response: 'accept' }, lost);
    expect(await outcome).toMatchObject({ response: 'accept' });
    expect(puppet.turn.signal.aborted).toBe(false);
  });

  it('is turned down when the log cannot even be asked', async () => {
    class UnreadableLog extends MemoryLog {
      override async findTurn(): Promise<number | undefined> {
        throw new Error('unreadable');
      }
    }
    const { client, uri } = await openFixture({ log: new UnreadableLog() });
    expect(await refusalOf(client, uri, { type: 'session/truncated', turnId: 'x' })).toContain('the host failed');
    expect(await refusalOf(client, uri, { type: 'session/titleChanged', title: 'on we go' })).toBeUndefined();
  });

  it('starts no agent, when it is a turn, until it is sent again', async () => {
    const log = failingLog();
    const { client, uri, agent, host } = await openFixture({ log, session: { provider: 'puppet' } });
    log.failNext();
    const lost = client.dispatch(uri, turnStarted('t1', 'important'));
    await client.untilClosed();
    await settle();
    expect(agent.turns).toEqual([]);
    const { again } = await resume(host, client, uri, [lost]);
    again.dispatch(uri, turnStarted('t1', 'important'), lost);
    (await agent.turn(0)).finish();
    await again.action(uri, 'session/turnComplete');
    expect(agent.turns).toHaveLength(1);
  });
});

describe('a turn whose words cannot be stored', () => {
  it('ends as an error that says so, and the agent is stopped', async () => {
    const { client, uri, log, puppet, clock } = await failingPuppetFixture();
    puppet.turn.text('kept ');
    await client.action(uri, 'session/delta');
    await clock.advance(TEXT_WINDOW_MS);
    log.failNext();
    puppet.turn.text('lost ');
    await settle();
    expect(puppet.turn.signal.aborted).toBe(true);
    puppet.turn.text('too late');
    await clock.advance(STORE_RETRY_MS);
    const { action } = await client.action(uri, 'session/error');
    expect(action.error).toMatchObject({ errorType: 'not-stored' });
    const { turns, activeTurn } = await stateOf(client, uri);
    expect(activeTurn).toBeUndefined();
    expect(turns).toMatchObject([{ id: 't1', state: 'error' }]);
    expect(textIn(turns[0]?.responseParts)).toBe('kept ');
    expect(client.closed).toBeUndefined();
  });

  it('ends likewise when only its end could not be stored', async () => {
    const { client, uri, log, puppet, clock, agent } = await failingPuppetFixture();
    log.failNext();
    puppet.finish();
    await settle();
    expect((await stateOf(client, uri)).activeTurn?.id).toBe('t1');
    await clock.advance(STORE_RETRY_MS);
    await client.action(uri, 'session/error');
    client.dispatch(uri, turnStarted('t2'));
    (await agent.turn(1)).finish();
    await client.action(uri, 'session/turnComplete');
  });

  it('is tried again every second for as long as nothing can be stored, and ends once', async () => {
    const { client, uri, log, puppet, clock } = await failingPuppetFixture();
    log.failNext(4);
    puppet.turn.text('lost');
    await settle();
    await clock.advance(STORE_RETRY_MS * 3);
    expect(log.failures).toBe(4);
    expect(client.types(uri)).not.toContain('session/error');
    await clock.advance(STORE_RETRY_MS * 3);
    expect(client.types(uri).filter((type) => type === 'session/error')).toHaveLength(1);
    expect(log.failures).toBe(4);
  });

  it('can be cancelled meanwhile, and then does not end twice', async () => {
    const { client, uri, log, puppet, clock } = await failingPuppetFixture();
    log.failNext();
    puppet.turn.text('lost');
    await settle();
    expect(await refusalOf(client, uri, { type: 'session/turnCancelled', turnId: 't1' })).toBeUndefined();
    await clock.advance(STORE_RETRY_MS * 2);
    expect((await stateOf(client, uri)).turns).toMatchObject([{ state: 'cancelled' }]);
    expect(client.types(uri)).not.toContain('session/error');
  });

  it('does not leave a tool of the host waiting, nor the next message in the queue lost', async () => {
    const { client, uri, log, puppet, clock, agent } = await failingPuppetFixture();
    client.dispatch(uri, { type: 'session/pendingMessageSet', kind: 'queued', id: 'q1', userMessage: { text: 'q1' } });
    await settle();
    log.failNext();
    const outcome = puppet.turn.callTool({ name: 'any', input: {} });
    await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
    await clock.advance(STORE_RETRY_MS);
    await client.action(uri, 'session/error');
    expect((await stateOf(client, uri)).queuedMessages).toHaveLength(1);
    client.dispatch(uri, turnStarted('t2'));
    (await agent.turn(1)).finish();
    expect((await agent.turn(2)).turn.message.text).toBe('q1');
  });

  it('does not deliver a steering message twice', async () => {
    const { client, uri, log, puppet, clock, agent } = await failingPuppetFixture();
    client.dispatch(uri, {
      type: 'session/pendingMessageSet',
      kind: 'steering',
      id: 's',
      userMessage: { text: 'left' },
    });
    await settle();
    log.failNext();
    expect(puppet.turn.takeSteering()).toEqual({ text: 'left', origin: { kind: 'user' } });
    await settle();
    expect(puppet.turn.takeSteering()).toBeUndefined();
    await clock.advance(STORE_RETRY_MS);
    client.dispatch(uri, turnStarted('t2'));
    expect((await agent.turn(1)).turn.takeSteering()).toEqual({ text: 'left', origin: { kind: 'user' } });
  });
});

describe('other things that cannot be stored', () => {
  it('a new session: the client hears of it, nobody else does, and the URI is still free', async () => {
    const log = failingLog();
    const host = await startHost({ log });
    const [client, phone] = [await host.client('desk'), await host.client('phone')];
    log.failNext();
    expect((await client.ask('createSession', { channel: 'x:1' })).error?.code).toBe(ErrorCode.InternalError);
    await settle();
    expect(phone.received.some(({ method }) => method === 'root/sessionAdded')).toBe(false);
    expect((await client.ask('subscribe', { channel: 'x:1' })).error?.code).toBe(ErrorCode.SessionNotFound);
    await client.session('x:1');
    await client.turn('x:1', 'hello');
    expect(lastText(await stateOf(client, 'x:1'))).toBe('Hello there');
  });

  it('a fork: it can be tried again under the same URI', async () => {
    const { client, uri, log } = await failingFixture();
    await client.turn(uri, 'hello', 't1');
    const params = { channel: 'x:fork', fork: { session: uri, turnId: 't1' } };
    log.failNext(1, 1);
    expect((await client.ask('createSession', params)).error?.code).toBe(ErrorCode.InternalError);
    await client.session('x:fork', params);
    expect((await stateOf(client, 'x:fork')).turns).toHaveLength(1);
  });

  it('the news that a session is ready: it is ready a second later', async () => {
    const log = failingLog();
    const clock = new FakeClock();
    const agent = new PuppetAgent();
    let open = () => {};
    agent.opening = new Promise((resolve) => {
      open = resolve;
    });
    const host = await startHost({ log, clock, agents: [agent] });
    const client = await host.client();
    await client.request('createSession', { channel: 'x:1', provider: 'puppet' });
    await client.request('subscribe', { channel: 'x:1' });
    log.failNext();
    open();
    await settle();
    expect((await stateOf(client, 'x:1')).lifecycle).toBe('creating');
    await clock.advance(STORE_RETRY_MS);
    expect((await stateOf(client, 'x:1')).lifecycle).toBe('ready');
    expect(client.types('x:1')).toEqual(['session/ready']);
    expect(agent.openings).toHaveLength(1);
  });

  it('a disposal: the session is still there, its turn still runs, and it can be disposed later', async () => {
    const { client, uri, log, puppet } = await failingPuppetFixture();
    log.failNext();
    expect((await client.ask('disposeSession', { channel: uri })).error?.code).toBe(ErrorCode.InternalError);
    expect(puppet.turn.signal.aborted).toBe(false);
    puppet.turn.text('still here');
    await client.action(uri, 'session/delta');
    expect(await client.ask('disposeSession', { channel: uri })).toMatchObject({ result: null });
    expect(puppet.turn.signal.aborted).toBe(true);
  });

  it('a restoration: it can be tried again', async () => {
    const { client, uri, log } = await failingFixture();
    await client.request('disposeSession', { channel: uri });
    await settle();
    log.failNext();
    expect((await client.ask('atrium/restoreSession', { channel: uri })).error?.code).toBe(ErrorCode.InternalError);
    expect(await client.ask('atrium/restoreSession', { channel: uri })).toMatchObject({ result: null });
  });

  it('the number of sessions: it is right a second later', async () => {
    const { client, uri, log, clock } = await failingFixture();
    const release = log.hold();
    const disposed = client.ask('disposeSession', { channel: uri });
    await settle();
    release();
    await disposed;
    log.failNext();
    await settle();
    expect(log.failures).toBe(1);
    expect(await client.state(ROOT)).toMatchObject({ activeSessions: 1 });
    await clock.advance(STORE_RETRY_MS);
    expect(await client.state(ROOT)).toMatchObject({ activeSessions: 0 });
  });

  it('what is new about agents: it is told a second later', async () => {
    let change = () => {};
    class ChangingAgent extends PuppetAgent {
      whenInfoChanges(listener: () => void): void {
        change = listener;
      }
    }
    const [log, clock, agent] = [failingLog(), new FakeClock(), new ChangingAgent()];
    const host = await startHost({ log, clock, agents: [agent] });
    const client = await host.client('desk');
    await settle();
    Object.assign(agent.info, { displayName: 'Renamed' });
    log.failNext();
    change();
    await settle();
    expect(JSON.stringify(await client.state(ROOT))).not.toContain('Renamed');
    await clock.advance(STORE_RETRY_MS);
    expect(JSON.stringify(await client.state(ROOT))).toContain('Renamed');
  });

  it('the end of a role: it is free a second later', async () => {
    const { client, uri, log, clock, join } = await failingFixture();
    const phone = await join('phone');
    const activeClient = { clientId: 'desk', tools: [] };
    await refusalOf(client, uri, { type: 'session/activeClientChanged', activeClient });
    log.failNext();
    client.disconnect();
    await settle();
    expect((await stateOf(phone, uri)).activeClient).toEqual(activeClient);
    await clock.advance(STORE_RETRY_MS);
    expect((await stateOf(phone, uri)).activeClient).toBeUndefined();
    await clock.advance(CLIENT_GRACE_MS);
  });

  it('a session that would leave memory: it stays a while longer', async () => {
    const { client, uri, log, clock } = await failingFixture();
    await client.turn(uri, 'hello');
    const before = await stateOf(client, uri);
    client.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    log.failNext();
    await clock.advance(IDLE_SESSION_MS);
    expect(log.failures).toBe(1);
    await clock.advance(IDLE_SESSION_MS);
    expect(await stateOf(client, uri)).toEqual(before);
  });

  it('a hello: the client comes in all the same, and is known once it could be stored', async () => {
    const log = failingLog();
    const clock = new FakeClock();
    const host = await startHost({ log, clock });
    log.failNext();
    const client = await host.client('desk');
    expect([log.failures, await log.record('client:desk')]).toEqual([1, undefined]);
    await clock.advance(STORE_RETRY_MS);
    expect(await log.record('client:desk')).toBeDefined();
    await client.session();
  });
});
