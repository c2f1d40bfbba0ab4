/** What a client sent under its own numbers, seen across connections, restarts and published clients' counting. */

import { once } from 'node:events';
import { WireFrame } from '@atrium/core/wire/frames.js';
import { SCATTERED_NUMBERS_MAX, SENT_ACTIONS_KEPT_MAX } from '@atrium/core/wire/limits.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { HostProcess } from '../support/crash-child.js';
import { FailingLog, KeptLog } from '../support/logs.js';
import { answerTo, envelopesOf, openFixture, startHost, stateOf, turnStarted } from '../support/session-fixture.js';
import { sessionsV1Client } from '../support/sessions-v1-client.js';
import { tempFolder } from '../support/temp-folder.js';
import { RawClient, ROOT, settle, type TestHost } from '../support/test-host.js';

const title = (text: string) => ({ type: 'session/titleChanged', title: text }) as const;
const claim = { type: 'session/activeClientChanged', activeClient: { clientId: 'desk', tools: [] } } as const;
const cancelled = (turnId: string) => ({ type: 'session/turnCancelled', turnId }) as const;

/** Comes back as published clients do: under the same id, with what was last seen. */
async function comeBack(host: TestHost, clientId: string, params: object): Promise<RawClient> {
  const client = host.connect();
  client.clientId = clientId;
  await client.request('reconnect', { channel: ROOT, clientId, subscriptions: [], lastSeenServerSeq: 0, ...params });
  return client;
}

const lastSeen = (client: RawClient, uri: string) => envelopesOf(client, uri).at(-1)?.serverSeq ?? 0;
const answersTo = (client: RawClient, uri: string, clientSeq: number) =>
  envelopesOf(client, uri).filter(({ origin }) => origin?.clientSeq === clientSeq);

describe('a client that counts from 1 on every connection', () => {
  it('[REL-068] has every one of 40 turns run, over five reconnects and a restart', async () => {
    const log = new KeptLog();
    const { client: desktop, uri, host, clock } = await openFixture({ log });
    let [client, current] = [desktop, host];
    const sent: string[] = [];
    for (let connection = 0; connection < 5; connection++) {
      if (connection === 3) {
        await current.stop();
        current = await startHost({ log, clock });
      }
      client = await comeBack(current, 'desk', { lastSeenServerSeq: lastSeen(client, uri), subscriptions: [uri] });
      for (let clientSeq = 1; clientSeq <= 8; clientSeq++) {
        const turnId = `turn ${connection} ${clientSeq}`;
        sent.push(turnId);
        client.dispatch(uri, turnStarted(turnId, 'hello'), clientSeq);
        await client.action(uri, ({ type, turnId: id }) => type === 'session/turnComplete' && id === turnId);
      }
    }
    expect((await stateOf(client, uri)).turns.map(({ id }) => id)).toEqual(sent);
  });

  it('[REL-068] may use a number for three actions in turn, and resend the newest', async () => {
    const { client: desktop, uri, host } = await openFixture();
    for (const turnId of ['a', 'b', 'c']) {
      desktop.dispatch(uri, turnStarted(turnId, 'hello'), 1);
      await desktop.action(uri, ({ type, turnId: id }) => type === 'session/turnComplete' && id === turnId);
    }
    const again = await comeBack(host, 'desk', { subscriptions: [uri] });
    again.dispatch(uri, turnStarted('c', 'hello'), 1);
    expect((await answerTo(again, uri, 1)).rejectionReason).toBeUndefined();
    expect((await stateOf(again, uri)).turns.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });

  it('[REL-068] claims its role again with the very action it sent on the connection before', async () => {
    const { client: desktop, uri, host } = await openFixture();
    for (const lastSeenServerSeq of [0, 1_000]) {
      const client = await comeBack(host, 'desk', { lastSeenServerSeq, subscriptions: [uri] });
      client.dispatch(uri, claim, 1);
      await answerTo(client, uri, 1);
      expect((await stateOf(client, uri)).activeClient?.clientId).toBe('desk');
      client.disconnect();
      await settle();
    }
    expect(desktop.closed?.reason).toMatch(/connected again/);
  });

  it('[REL-068] sets a value again that it has seen taken, because it no longer waits for that answer', async () => {
    const { client: desktop, uri, host } = await openFixture();
    for (const [index, text] of ['zero', 'one', 'two'].entries()) desktop.dispatch(uri, title(text), index + 1);
    await answerTo(desktop, uri, 3);
    const again = await comeBack(host, 'desk', { lastSeenServerSeq: lastSeen(desktop, uri), subscriptions: [uri] });
    again.dispatch(uri, { type: 'session/isReadChanged', isRead: true }, 1);
    again.dispatch(uri, title('one'), 2);
    await answerTo(again, uri, 2);
    expect((await stateOf(again, uri)).summary.title).toBe('one');
  });

  it('[REL-068] is known by one number that it used for another action, also behind a claim and after a restart', async () => {
    const log = new KeptLog();
    const { client: desktop, uri, host, clock, join } = await openFixture({ log });
    for (const [index, action] of [claim, title('one'), title('two')].entries())
      desktop.dispatch(uri, action, index + 1);
    await answerTo(desktop, uri, 3);
    const params = { lastSeenServerSeq: lastSeen(desktop, uri), subscriptions: [uri] };
    const again = await comeBack(host, 'desk', params);
    for (const [index, action] of [claim, title('three'), title('two')].entries())
      again.dispatch(uri, action, index + 1);
    await again.action(uri, (action) => action.type === 'session/titleChanged' && action.title === 'two');
    expect((await stateOf(again, uri)).summary.title).toBe('two');
    const phone = await join('phone');
    phone.dispatch(uri, title('phone'), 1);
    const { serverSeq } = await answerTo(phone, uri, 1);
    await host.stop();
    const restarted = await startHost({ log, clock });
    const returned = await comeBack(restarted, 'desk', { lastSeenServerSeq: serverSeq, subscriptions: [uri] });
    returned.dispatch(uri, title('two'), 3);
    await answerTo(returned, uri, 3);
    expect((await stateOf(returned, uri)).summary.title).toBe('two');
  });

  it('[REL-068] does not undo what happened since with the resend of a value that it never saw taken', async () => {
    const { client: desktop, uri, host, join } = await openFixture();
    const phone = await join('phone');
    const lastSeenServerSeq = lastSeen(desktop, uri);
    desktop.dispatch(uri, title('desk'), 1);
    const { serverSeq } = await answerTo(desktop, uri, 1);
    phone.dispatch(uri, title('phone'));
    await phone.action(uri, (action) => action.type === 'session/titleChanged' && action.title === 'phone');
    const again = await comeBack(host, 'desk', { lastSeenServerSeq, subscriptions: [] });
    again.dispatch(uri, title('desk'), 1);
    expect(await answerTo(again, uri, 1)).toMatchObject({ serverSeq, action: title('desk') });
    expect((await stateOf(again, uri)).summary.title).toBe('phone');
    expect(answersTo(phone, uri, 1).filter(({ origin }) => origin?.clientId === 'desk')).toHaveLength(1);
  });

  it('[REL-068] is understood with members in another order, and not on another channel', async () => {
    const { client: desktop, uri, host } = await openFixture();
    const other = await desktop.session();
    const turn = { type: 'session/turnStarted', turnId: 't', userMessage: { text: 'hello', attachments: [] } };
    desktop.dispatch(uri, turn, 1);
    await desktop.action(uri, 'session/turnComplete');
    const again = await comeBack(host, 'desk', { subscriptions: [uri, other] });
    const turned = { turnId: 't', userMessage: { attachments: [], text: 'hello' }, type: turn.type };
    again.dispatch(uri, turned, 1);
    expect((await answerTo(again, uri, 1)).rejectionReason).toBeUndefined();
    again.dispatch(other, turn, 1);
    await again.action(other, 'session/turnComplete');
    expect((await stateOf(again, other)).turns).toHaveLength(1);
    expect((await stateOf(again, uri)).turns).toHaveLength(1);
  });
});

describe('a client that goes on counting, and has seen the answer', () => {
  it('[REL-012] resends a value without undoing what happened since, also after it claimed its role again', async () => {
    const log = new KeptLog();
    const { client: desktop, uri, host, clock, join } = await openFixture({ log });
    desktop.dispatch(uri, claim, 1);
    desktop.dispatch(uri, title('desk'), 2);
    const first = await answerTo(desktop, uri, 2);
    const phone = await join('phone');
    phone.dispatch(uri, title('phone'), 1);
    await answerTo(phone, uri, 1);
    let current = host;
    for (const isRestarted of [false, true, false]) {
      if (isRestarted) {
        await current.stop();
        current = await startHost({ log, clock });
      }
      const again = await comeBack(current, 'desk', { lastSeenServerSeq: log.head, subscriptions: [uri] });
      again.dispatch(uri, claim, 1);
      again.dispatch(uri, title('desk'), 2);
      expect((await answerTo(again, uri, 2)).serverSeq).toBe(first.serverSeq);
      expect(await stateOf(again, uri)).toMatchObject({
        summary: { title: 'phone' },
        activeClient: { clientId: 'desk' },
      });
    }
  });

  it('[REL-012] resends a value without undoing what happened since, also when it leaves numbers out', async () => {
    const { client: desktop, uri, host } = await openFixture();
    const last = 2 * (SCATTERED_NUMBERS_MAX + 50);
    for (let clientSeq = 2; clientSeq <= last; clientSeq += 2)
      desktop.dispatch(uri, title(`number ${clientSeq}`), clientSeq);
    await answerTo(desktop, uri, last);
    const again = await comeBack(host, 'desk', { lastSeenServerSeq: lastSeen(desktop, uri), subscriptions: [uri] });
    again.dispatch(uri, title(`number ${last - 2}`), last - 2);
    await answerTo(again, uri, last - 2);
    expect((await stateOf(again, uri)).summary.title).toBe(`number ${last}`);
  });

  it('[REL-012] resends a value over a socket without undoing what happened since, also when the host was killed', async () => {
    const dataDir = await tempFolder();
    const [killed, killedPort] = await startProcess(dataDir);
    const desktop = await socketClient(killedPort);
    await desktop.initialize('desk');
    const uri = await desktop.session();
    desktop.dispatch(uri, claim, 1);
    desktop.dispatch(uri, title('desk'), 2);
    const first = await answerTo(desktop, uri, 2);
    desktop.dispatch(uri, title('later'), 3);
    await answerTo(desktop, uri, 3);
    await killed.kill();
    const [, port] = await startProcess(dataDir);
    for (let connection = 0; connection < 2; connection++) {
      const again = await socketClient(port);
      again.clientId = 'desk';
      const params = { clientId: 'desk', subscriptions: [uri], lastSeenServerSeq: lastSeen(desktop, uri) };
      await again.request('reconnect', { channel: ROOT, ...params });
      again.dispatch(uri, claim, 1);
      again.dispatch(uri, title('desk'), 2);
      expect((await answerTo(again, uri, 2)).serverSeq).toBe(first.serverSeq);
      expect((await stateOf(again, uri)).summary.title).toBe('later');
    }
  });
});

async function startProcess(dataDir: string): Promise<[HostProcess, port: number]> {
  const process = new HostProcess({ dataDir });
  onTestFinished(() => process.kill());
  const { port = 0 } = (await process.serving()) ?? {};
  return [process, port];
}

async function socketClient(port: number): Promise<RawClient> {
  const client = new RawClient();
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  socket.on('message', (data) => client.transport.send([new WireFrame(data.toString())]));
  client.transport.start({
    message: (text) => socket.send(text),
    drain: () => {},
    closed: () => socket.terminate(),
  });
  await once(socket, 'open');
  return client;
}

describe('a resend of what was turned down', () => {
  it('[REL-065] is turned down again, with its reason, after reconnects and restarts, to the sender alone', async () => {
    const log = new KeptLog();
    const { client: desktop, uri, host, clock } = await openFixture({ log });
    desktop.dispatch(uri, cancelled('t1'), 5);
    const { rejectionReason } = await answerTo(desktop, uri, 5);
    let current = host;
    for (let round = 0; round < 3; round++) {
      for (let times = 0; times < 2; times++) {
        const witness = await current.client('witness', { initialSubscriptions: [uri] });
        const again = await comeBack(current, 'desk', { subscriptions: [uri] });
        again.dispatch(uri, cancelled('t1'), 5);
        expect((await answerTo(again, uri, 5)).rejectionReason).toBe(rejectionReason);
        await settle();
        expect(answersTo(witness, uri, 5)).toEqual([]);
      }
      await current.stop();
      current = await startHost({ log, clock });
    }
    const again = await comeBack(current, 'desk', { subscriptions: [uri], pending: [5] });
    again.dispatch(uri, turnStarted('t1', 'hello'), 5);
    await again.action(uri, 'session/turnComplete');
  });

  it('[REL-065] is turned down again from a file on disk, and in sessions-v1 in its own words', async () => {
    const dataDir = await tempFolder();
    const { uri, host, clock } = await openFixture({ log: await openSqliteLog({ dataDir }) });
    const session = uri.replace('ahp-session:', 'mock:');
    const phone = await sessionsV1Client(host, 'phone');
    const action = { type: 'session/turnCancelled', session, turnId: 'none' };
    phone.dispatch(action, 1);
    const { rejectionReason } = await phone.answerTo(1);
    await host.stop();
    const restarted = await startHost({ log: await openSqliteLog({ dataDir }), clock });
    const raw = restarted.connect();
    await raw.request('reconnect', { clientId: 'phone', lastSeenServerSeq: 0, subscriptions: [] });
    raw.send({ method: 'dispatchAction', params: { clientSeq: 1, action } });
    const { params } = await raw.until(({ method }) => method === 'action');
    expect(params).toMatchObject({
      envelope: { action, rejectionReason, origin: { clientId: 'phone', clientSeq: 1 } },
    });
  });

  it("[REL-065] is not told to be settled: Atrium's own client asks again and hears the reason", async () => {
    const { client: desktop, uri, host } = await openFixture();
    desktop.dispatch(uri, cancelled('t1'), 5);
    desktop.dispatch(uri, title('taken'), 6);
    await answerTo(desktop, uri, 6);
    const client = host.connect();
    const params = { channel: ROOT, clientId: 'desk', subscriptions: [], lastSeenServerSeq: 0, pending: [5, 6, 7] };
    expect(await client.request('reconnect', params)).toMatchObject({ settled: [6] });
  });
});

describe('what is kept for resends', () => {
  it('[REL-068] is bounded by client, and goes when the client begins anew', async () => {
    const log = new KeptLog();
    const { client: desktop, uri, host } = await openFixture({ log });
    const kept = async () => (await log.records('sent:')).length;
    const before = await kept();
    for (let clientSeq = 1; clientSeq <= SENT_ACTIONS_KEPT_MAX + 50; clientSeq++) {
      desktop.dispatch(uri, title(`number ${clientSeq}`), clientSeq);
    }
    await answerTo(desktop, uri, SENT_ACTIONS_KEPT_MAX + 50);
    await settle();
    expect((await kept()) - before).toBe(SENT_ACTIONS_KEPT_MAX);
    const again = await comeBack(host, 'desk', { subscriptions: [] });
    again.dispatch(uri, title(`number ${SENT_ACTIONS_KEPT_MAX}`), SENT_ACTIONS_KEPT_MAX);
    await answerTo(again, uri, SENT_ACTIONS_KEPT_MAX);
    expect((await stateOf(again, uri)).summary.title).toBe(`number ${SENT_ACTIONS_KEPT_MAX + 50}`);
    await host.client('desk');
    expect(await kept()).toBe(before);
  });

  it('[REL-098] is bounded for a client that leaves numbers out, and its newest can still be resent', async () => {
    const log = new KeptLog();
    const { client: desktop, uri, host } = await openFixture({ log });
    const start = JSON.parse((await log.record('client:desk')) ?? '').epoch as number;
    const last = 2 * (SCATTERED_NUMBERS_MAX + 50);
    for (let clientSeq = 2; clientSeq <= last; clientSeq += 2)
      desktop.dispatch(uri, title(`number ${clientSeq}`), clientSeq);
    await answerTo(desktop, uri, last);
    expect((await log.clientSeqs('desk', start, 0)).length).toBeLessThanOrEqual(SCATTERED_NUMBERS_MAX + 1);
    desktop.dispatch(uri, title('the last'), last + 2);
    await answerTo(desktop, uri, last + 2);
    const again = await comeBack(host, 'desk', { subscriptions: [] });
    again.dispatch(uri, title(`number ${last}`), last);
    await answerTo(again, uri, last);
    expect((await stateOf(again, uri)).summary.title).toBe('the last');
  });

  it('[REL-068] is as it was when the new action under a number could not be stored', async () => {
    const log = new FailingLog();
    const { client: desktop, uri, host } = await openFixture({ log });
    desktop.dispatch(uri, turnStarted('a', 'hello'), 1);
    await desktop.action(uri, 'session/turnComplete');
    log.isFull = true;
    desktop.dispatch(uri, title('lost'), 1);
    await desktop.untilClosed();
    log.isFull = false;
    const again = await comeBack(host, 'desk', { subscriptions: [uri] });
    again.dispatch(uri, turnStarted('a', 'hello'), 1);
    expect(await answerTo(again, uri, 1)).toMatchObject({ action: { turnId: 'a' } });
    again.dispatch(uri, title('lost'), 1);
    await again.action(uri, 'session/titleChanged');
    expect((await stateOf(again, uri)).turns).toHaveLength(1);
  });

  it('[REL-065] [REL-068] sends the client back that asks again while nothing can be stored', async () => {
    const log = new FailingLog();
    const { client: desktop, uri, host, join } = await openFixture({ log });
    const phone = await join('phone');
    desktop.dispatch(uri, title('taken'), 4);
    desktop.dispatch(uri, cancelled('t1'), 5);
    const { rejectionReason } = await answerTo(desktop, uri, 5);
    // The answer to the first has no number of its own: it is lost with what the phone asks for.
    for (const action of [title('taken'), cancelled('t1')]) {
      const clientSeq = action.type === 'session/titleChanged' ? 4 : 5;
      const early = await comeBack(host, 'desk', { subscriptions: [] });
      log.isFull = true;
      phone.dispatch(uri, title('lost'), 1);
      early.dispatch(uri, action, clientSeq);
      expect(await early.untilClosed()).toMatchObject({ code: CloseCode.NotStored });
      log.isFull = false;
      const again = await comeBack(host, 'desk', { subscriptions: [] });
      again.dispatch(uri, action, clientSeq);
      const answer = await answerTo(again, uri, clientSeq);
      expect(answer.rejectionReason).toBe(clientSeq === 5 ? rejectionReason : undefined);
    }
  });

  it('[REL-068] has nothing of two actions under one number that could not be stored', async () => {
    const log = new FailingLog();
    const { client: desktop, uri, host } = await openFixture({ log });
    log.isFull = true;
    desktop.dispatch(uri, title('first'), 1);
    desktop.dispatch(uri, title('second'), 1);
    await desktop.untilClosed();
    log.isFull = false;
    const again = await comeBack(host, 'desk', { subscriptions: [uri] });
    again.dispatch(uri, title('first'), 1);
    await answerTo(again, uri, 1);
    expect((await stateOf(again, uri)).summary.title).toBe('first');
  });
});

/** A log that takes its time to find a turn. */
class PonderingLog extends KeptLog {
  pondering: Promise<void> = Promise.resolve();

  override async findTurn(channel: string, turnId: string) {
    await this.pondering;
    return super.findTurn(channel, turnId);
  }
}

describe('a resend of what is being decided on the connection before', () => {
  it.each([
    ['turned down', true],
    ['taken', false],
  ])('[REL-065] is answered when the action is %s', async (_name, isBusy) => {
    const log = new PonderingLog();
    const { client: desktop, uri, host } = await openFixture({ log });
    if (isBusy) desktop.dispatch(uri, turnStarted('busy', 'slow'), 1);
    if (isBusy) await answerTo(desktop, uri, 1);
    let goOn = () => {};
    log.pondering = new Promise((resolve) => {
      goOn = resolve;
    });
    desktop.dispatch(uri, turnStarted('t', 'hello'), 2);
    await settle();
    const again = await comeBack(host, 'desk', { subscriptions: [uri], lastSeenServerSeq: lastSeen(desktop, uri) });
    again.dispatch(uri, turnStarted('t', 'hello'), 2);
    await settle();
    goOn();
    expect((await answerTo(again, uri, 2)).rejectionReason !== undefined).toBe(isBusy);
    await settle();
    expect(answersTo(again, uri, 2)).toHaveLength(1);
  });
});
