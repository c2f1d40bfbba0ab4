import { STORE_RETRY_MS } from '@atrium/core/channels/limits.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { CLIENT_GRACE_MS, IDLE_SESSION_MS } from '@atrium/core/sessions/limits.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import { ErrorCode } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { type FailingLog, failingLog } from '../support/failing-log.js';
import { FakeClock } from '../support/fake-clock.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import {
  answerTo,
  lastText,
  openPuppetRoom,
  openRoom,
  refusalOf,
  startHost,
  stateOf,
  textIn,
  turnStarted,
} from '../support/session-room.js';
import { type RawClient, ROOT, settle, type TestHost } from '../support/test-host.js';

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

async function failingRoom() {
  const log: FailingLog = failingLog();
  return { log, ...(await openRoom({ log })) };
}

async function failingPuppetRoom() {
  const log: FailingLog = failingLog();
  return { log, ...(await openPuppetRoom({ log })) };
}

describe('an action that cannot be stored', () => {
  it('is seen by nobody, and the state is what it was', async () => {
    const { desk, uri, log, join } = await failingRoom();
    const phone = await join('phone');
    const before = await stateOf(phone, uri);
    const [seen, head] = [phone.received.length, log.head];
    log.failNext();
    desk.dispatch(uri, { type: 'session/titleChanged', title: 'lost' });
    await settle();
    expect(log.failures).toBe(1);
    expect(log.head).toBe(head);
    expect(phone.received).toHaveLength(seen);
    expect(await stateOf(phone, uri)).toEqual(before);
    const { items } = await phone.request<{ items: unknown[] }>('listSessions', { channel: ROOT });
    expect(items).toEqual([before.summary]);
  });

  it('sends the client that asked for it away, and nobody else', async () => {
    const { desk, uri, log, join } = await failingRoom();
    const phone = await join('phone');
    log.failNext();
    desk.dispatch(uri, { type: 'session/titleChanged', title: 'lost' });
    expect(await desk.untilClosed()).toMatchObject({ code: CloseCode.NotStored });
    expect(phone.closed).toBeUndefined();
    expect(await refusalOf(phone, uri, { type: 'session/titleChanged', title: 'mine' })).toBeUndefined();
  });

  it('is taken when it is sent again under the same number, once', async () => {
    const { desk, uri, log, host } = await failingRoom();
    log.failNext();
    const lost = desk.dispatch(uri, { type: 'session/titleChanged', title: 'kept after all' });
    await desk.untilClosed();
    const { again, settled } = await resume(host, desk, uri, [lost]);
    expect(settled).toEqual([]);
    again.dispatch(uri, { type: 'session/titleChanged', title: 'kept after all' }, lost);
    again.dispatch(uri, { type: 'session/titleChanged', title: 'kept after all' }, lost);
    expect(await answerTo(again, uri, lost)).toMatchObject({ action: { title: 'kept after all' } });
    await settle();
    expect((await stateOf(again, uri)).summary.title).toBe('kept after all');
    expect(again.types(uri)).toEqual(['session/titleChanged']);
  });

  it('takes everything of its tick with it, and everything that was built on it meanwhile', async () => {
    const { desk, uri, log, host, join } = await failingRoom();
    const phone = await join('phone');
    const release = log.hold();
    log.failNext();
    const first = desk.dispatch(uri, { type: 'session/titleChanged', title: 'one' });
    await settle();
    const second = phone.dispatch(uri, { type: 'session/isArchivedChanged', isArchived: true });
    await settle();
    release();
    await Promise.all([desk.untilClosed(), phone.untilClosed()]);
    const back = await resume(host, phone, uri, [second]);
    const state = await stateOf(back.again, uri);
    expect(state.summary.status & 64).toBe(0);
    expect(state.summary.title).not.toBe('one');
    back.again.dispatch(uri, { type: 'session/isArchivedChanged', isArchived: true }, second);
    await answerTo(back.again, uri, second);
    const { again } = await resume(host, desk, uri, [first]);
    again.dispatch(uri, { type: 'session/titleChanged', title: 'one' }, first);
    await answerTo(again, uri, first);
    expect((await stateOf(again, uri)).summary).toMatchObject({ title: 'one', status: 65 });
  });

  it('does not use up a number that somebody else then gets in vain', async () => {
    const { desk, uri, log, join } = await failingRoom();
    const phone = await join('phone');
    const head = log.head;
    log.failNext();
    desk.dispatch(uri, { type: 'session/titleChanged', title: 'lost' });
    await desk.untilClosed();
    const clientSeq = phone.dispatch(uri, { type: 'session/titleChanged', title: 'kept' });
    expect((await answerTo(phone, uri, clientSeq)).serverSeq).toBe(head + 1);
  });

  it('may be a rejection: it is told when the action is sent again', async () => {
    const { desk, uri, log, host } = await failingRoom();
    log.failNext();
    const lost = desk.dispatch(uri, { type: 'session/turnCancelled', turnId: 'nowhere' });
    await desk.untilClosed();
    const { again } = await resume(host, desk, uri, [lost]);
    again.dispatch(uri, { type: 'session/turnCancelled', turnId: 'nowhere' }, lost);
    expect((await answerTo(again, uri, lost)).rejectionReason).toContain('no turn');
  });

  it('may be one that was held for the end of a turn: it waits again, and is taken once', async () => {
    const { desk, uri, log, host, join } = await failingPuppetRoom();
    const phone = await join('phone');
    const held = desk.dispatch(uri, { type: 'session/modelChanged', model: { id: 'new' } });
    await settle();
    log.failNext();
    const lost = phone.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await phone.untilClosed();
    expect(desk.closed).toBeUndefined();
    desk.dispatch(uri, { type: 'session/modelChanged', model: { id: 'new' } }, held);
    const { again } = await resume(host, phone, uri, [lost]);
    again.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' }, lost);
    await answerTo(desk, uri, held);
    await settle();
    expect(desk.types(uri).filter((type) => type === 'session/modelChanged')).toHaveLength(1);
    expect((await stateOf(again, uri)).summary.model).toEqual({ id: 'new' });
    expect(log.failures).toBe(1);
  });

  it('does not take those with it that were held for the end of a turn that never was', async () => {
    const { desk, uri, log, host, join, puppet } = await failingPuppetRoom();
    const phone = await join('phone');
    const first = phone.dispatch(uri, { type: 'session/modelChanged', model: { id: 'first' } });
    await settle();
    const release = log.hold();
    log.failNext();
    puppet.finish();
    await settle();
    const lost = desk.dispatch(uri, turnStarted('t2'));
    await settle();
    const second = phone.dispatch(uri, { type: 'session/modelChanged', model: { id: 'second' } });
    await settle();
    release();
    await desk.untilClosed();
    const { again } = await resume(host, desk, uri, [lost]);
    await refusalOf(again, uri, { type: 'session/turnCancelled', turnId: 't1' });
    for (const clientSeq of [first, second]) await answerTo(phone, uri, clientSeq);
    expect((await stateOf(again, uri)).summary.model).toEqual({ id: 'second' });
  });

  it('leaves a turn alone that only waits for a person, who then answers again', async () => {
    const { desk, uri, log, host, puppet } = await failingPuppetRoom();
    const outcome = puppet.turn.ask({ id: 'q', message: 'Well?' });
    await desk.action(uri, 'session/inputRequested');
    log.failNext();
    const lost = desk.dispatch(uri, { type: 'session/inputCompleted', requestId: 'q', response: 'accept' });
    await desk.untilClosed();
    const { again } = await resume(host, desk, uri, [lost]);
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
    const { desk, uri } = await openRoom({ log: new UnreadableLog() });
    expect(await refusalOf(desk, uri, { type: 'session/truncated', turnId: 'x' })).toContain('the host failed');
    expect(await refusalOf(desk, uri, { type: 'session/titleChanged', title: 'on we go' })).toBeUndefined();
  });

  it('starts no agent, when it is a turn, until it is sent again', async () => {
    const log = failingLog();
    const { desk, uri, agent, host } = await openRoom({ log, session: { provider: 'puppet' } });
    log.failNext();
    const lost = desk.dispatch(uri, turnStarted('t1', 'important'));
    await desk.untilClosed();
    await settle();
    expect(agent.turns).toEqual([]);
    const { again } = await resume(host, desk, uri, [lost]);
    again.dispatch(uri, turnStarted('t1', 'important'), lost);
    (await agent.turn(0)).finish();
    await again.action(uri, 'session/turnComplete');
    expect(agent.turns).toHaveLength(1);
  });
});

describe('a turn whose words cannot be stored', () => {
  it('ends as an error that says so, and the agent is stopped', async () => {
    const { desk, uri, log, puppet, clock } = await failingPuppetRoom();
    puppet.turn.text('kept ');
    await desk.action(uri, 'session/delta');
    log.failNext();
    puppet.turn.text('lost ');
    await settle();
    expect(puppet.turn.signal.aborted).toBe(true);
    puppet.turn.text('too late');
    await clock.advance(STORE_RETRY_MS);
    const { action } = await desk.action(uri, 'session/error');
    expect(action.error).toMatchObject({ errorType: 'not-stored' });
    const { turns, activeTurn } = await stateOf(desk, uri);
    expect(activeTurn).toBeUndefined();
    expect(turns).toMatchObject([{ id: 't1', state: 'error' }]);
    expect(textIn(turns[0]?.responseParts)).toBe('kept ');
    expect(desk.closed).toBeUndefined();
  });

  it('ends likewise when only its end could not be stored', async () => {
    const { desk, uri, log, puppet, clock, agent } = await failingPuppetRoom();
    log.failNext();
    puppet.finish();
    await settle();
    expect((await stateOf(desk, uri)).activeTurn?.id).toBe('t1');
    await clock.advance(STORE_RETRY_MS);
    await desk.action(uri, 'session/error');
    desk.dispatch(uri, turnStarted('t2'));
    (await agent.turn(1)).finish();
    await desk.action(uri, 'session/turnComplete');
  });

  it('is tried again every second for as long as nothing can be stored, and ends once', async () => {
    const { desk, uri, log, puppet, clock } = await failingPuppetRoom();
    log.failNext(4);
    puppet.turn.text('lost');
    await settle();
    await clock.advance(STORE_RETRY_MS * 3);
    expect(log.failures).toBe(4);
    expect(desk.types(uri)).not.toContain('session/error');
    await clock.advance(STORE_RETRY_MS * 3);
    expect(desk.types(uri).filter((type) => type === 'session/error')).toHaveLength(1);
    expect(log.failures).toBe(4);
  });

  it('can be cancelled meanwhile, and then does not end twice', async () => {
    const { desk, uri, log, puppet, clock } = await failingPuppetRoom();
    log.failNext();
    puppet.turn.text('lost');
    await settle();
    expect(await refusalOf(desk, uri, { type: 'session/turnCancelled', turnId: 't1' })).toBeUndefined();
    await clock.advance(STORE_RETRY_MS * 2);
    expect((await stateOf(desk, uri)).turns).toMatchObject([{ state: 'cancelled' }]);
    expect(desk.types(uri)).not.toContain('session/error');
  });

  it('does not leave a tool of the host waiting, nor the next message in the queue lost', async () => {
    const { desk, uri, log, puppet, clock, agent } = await failingPuppetRoom();
    desk.dispatch(uri, { type: 'session/pendingMessageSet', kind: 'queued', id: 'q1', userMessage: { text: 'q1' } });
    await settle();
    log.failNext();
    const outcome = puppet.turn.callTool({ name: 'any', input: {} });
    await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
    await clock.advance(STORE_RETRY_MS);
    await desk.action(uri, 'session/error');
    expect((await stateOf(desk, uri)).queuedMessages).toHaveLength(1);
    desk.dispatch(uri, turnStarted('t2'));
    (await agent.turn(1)).finish();
    expect((await agent.turn(2)).turn.message.text).toBe('q1');
  });

  it('does not deliver a steering message twice', async () => {
    const { desk, uri, log, puppet, clock, agent } = await failingPuppetRoom();
    desk.dispatch(uri, {
      type: 'session/pendingMessageSet',
      kind: 'steering',
      id: 's',
      userMessage: { text: 'left' },
    });
    await settle();
    log.failNext();
    expect(puppet.turn.takeSteering()).toEqual({ text: 'left' });
    await settle();
    expect(puppet.turn.takeSteering()).toBeUndefined();
    await clock.advance(STORE_RETRY_MS);
    desk.dispatch(uri, turnStarted('t2'));
    expect((await agent.turn(1)).turn.takeSteering()).toEqual({ text: 'left' });
  });
});

describe('other things that cannot be stored', () => {
  it('a new session: the client hears of it, nobody else does, and the URI is still free', async () => {
    const log = failingLog();
    const host = await startHost({ log });
    const [desk, phone] = [await host.client('desk'), await host.client('phone')];
    log.failNext();
    expect((await desk.ask('createSession', { channel: 'x:1' })).error?.code).toBe(ErrorCode.InternalError);
    await settle();
    expect(phone.received.some(({ method }) => method === 'root/sessionAdded')).toBe(false);
    expect((await desk.ask('subscribe', { channel: 'x:1' })).error?.code).toBe(ErrorCode.SessionNotFound);
    await desk.session('x:1');
    await desk.turn('x:1', 'hello');
    expect(lastText(await stateOf(desk, 'x:1'))).toBe('Hello there');
  });

  it('a fork: it can be tried again under the same URI', async () => {
    const { desk, uri, log } = await failingRoom();
    await desk.turn(uri, 'hello', 't1');
    const params = { channel: 'x:fork', fork: { session: uri, turnId: 't1' } };
    log.failNext(1, 1);
    expect((await desk.ask('createSession', params)).error?.code).toBe(ErrorCode.InternalError);
    await desk.session('x:fork', params);
    expect((await stateOf(desk, 'x:fork')).turns).toHaveLength(1);
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
    const desk = await host.client();
    await desk.request('createSession', { channel: 'x:1', provider: 'puppet' });
    await desk.request('subscribe', { channel: 'x:1' });
    log.failNext();
    open();
    await settle();
    expect((await stateOf(desk, 'x:1')).lifecycle).toBe('creating');
    await clock.advance(STORE_RETRY_MS);
    expect((await stateOf(desk, 'x:1')).lifecycle).toBe('ready');
    expect(desk.types('x:1')).toEqual(['session/ready']);
    expect(agent.openings).toHaveLength(1);
  });

  it('a disposal: the session is still there, its turn still runs, and it can be disposed later', async () => {
    const { desk, uri, log, puppet } = await failingPuppetRoom();
    log.failNext();
    expect((await desk.ask('disposeSession', { channel: uri })).error?.code).toBe(ErrorCode.InternalError);
    expect(puppet.turn.signal.aborted).toBe(false);
    puppet.turn.text('still here');
    await desk.action(uri, 'session/delta');
    expect(await desk.ask('disposeSession', { channel: uri })).toMatchObject({ result: null });
    expect(puppet.turn.signal.aborted).toBe(true);
  });

  it('a restoration: it can be tried again', async () => {
    const { desk, uri, log } = await failingRoom();
    await desk.request('disposeSession', { channel: uri });
    await settle();
    log.failNext();
    expect((await desk.ask('atrium/restoreSession', { channel: uri })).error?.code).toBe(ErrorCode.InternalError);
    expect(await desk.ask('atrium/restoreSession', { channel: uri })).toMatchObject({ result: null });
  });

  it('the number of sessions: it is right a second later', async () => {
    const { desk, uri, log, clock } = await failingRoom();
    const release = log.hold();
    const disposed = desk.ask('disposeSession', { channel: uri });
    await settle();
    release();
    await disposed;
    log.failNext();
    await settle();
    expect(log.failures).toBe(1);
    expect(await desk.state(ROOT)).toMatchObject({ activeSessions: 1 });
    await clock.advance(STORE_RETRY_MS);
    expect(await desk.state(ROOT)).toMatchObject({ activeSessions: 0 });
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
    const desk = await host.client('desk');
    await settle();
    Object.assign(agent.info, { displayName: 'Renamed' });
    log.failNext();
    change();
    await settle();
    expect(JSON.stringify(await desk.state(ROOT))).not.toContain('Renamed');
    await clock.advance(STORE_RETRY_MS);
    expect(JSON.stringify(await desk.state(ROOT))).toContain('Renamed');
  });

  it('the end of a role: it is free a second later', async () => {
    const { desk, uri, log, clock, join } = await failingRoom();
    const phone = await join('phone');
    const activeClient = { clientId: 'desk', tools: [] };
    await refusalOf(desk, uri, { type: 'session/activeClientChanged', activeClient });
    log.failNext();
    desk.disconnect();
    await settle();
    expect((await stateOf(phone, uri)).activeClient).toEqual(activeClient);
    await clock.advance(STORE_RETRY_MS);
    expect((await stateOf(phone, uri)).activeClient).toBeUndefined();
    await clock.advance(CLIENT_GRACE_MS);
  });

  it('a session that would leave memory: it stays a while longer', async () => {
    const { desk, uri, log, clock } = await failingRoom();
    await desk.turn(uri, 'hello');
    const before = await stateOf(desk, uri);
    desk.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    log.failNext();
    await clock.advance(IDLE_SESSION_MS);
    expect(log.failures).toBe(1);
    await clock.advance(IDLE_SESSION_MS);
    expect(await stateOf(desk, uri)).toEqual(before);
  });

  it('a hello: the client comes in all the same, and is known once it could be stored', async () => {
    const log = failingLog();
    const clock = new FakeClock();
    const host = await startHost({ log, clock });
    log.failNext();
    const desk = await host.client('desk');
    expect([log.failures, await log.record('client:desk')]).toEqual([1, undefined]);
    await clock.advance(STORE_RETRY_MS);
    expect(await log.record('client:desk')).toBeDefined();
    await desk.session();
  });
});
