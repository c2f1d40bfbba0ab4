import type { SessionState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { dataFolder } from '../support/log-folders.js';
import { SlowLog } from '../support/logs.js';
import { comparable, Mirror } from '../support/mirror.js';
import { lastText, openPuppetFixture, startHost } from '../support/session-fixture.js';
import { type RawClient, ROOT, settle, type TestHost } from '../support/test-host.js';

interface Resumed {
  readonly type: string;
  readonly settled: number[];
  readonly actions: { serverSeq: number }[];
}

/** A host on a real folder. */
async function hostOn(folder: string): Promise<TestHost> {
  return startHost({ log: await openSqliteLog({ dataDir: folder }) });
}

async function comeBack(host: TestHost, params: object): Promise<[RawClient, Resumed]> {
  const client = host.connect();
  client.clientId = 'desk';
  const resumed = await client.request('reconnect', { channel: ROOT, clientId: 'desk', ...params });
  return [client, resumed as unknown as Resumed];
}

const turn = (turnId: string) => ({ type: 'session/turnStarted', turnId, userMessage: { text: 'hello' } }) as const;

describe('a host that is started again on its folder', () => {
  it('[AHP-205][REL-012][REL-016] goes on counting, replays what was missed, and applies nothing twice', async () => {
    const folder = dataFolder();
    const first = await hostOn(folder);
    const client = await first.client('desk');
    const uri = await client.session();
    const mirror = new Mirror().takeAll(client.received);
    const { lastSeen } = mirror;
    client.dispatch(uri, turn('t1'), 1);
    await client.action(uri, 'session/turnComplete');
    await first.stop();

    const second = await hostOn(folder);
    const [back, resumed] = await comeBack(second, {
      lastSeenServerSeq: lastSeen,
      subscriptions: [ROOT, uri],
      pending: [1, 2],
    });
    expect(resumed).toMatchObject({ type: 'replay', settled: [1] });
    expect(Math.min(...resumed.actions.map(({ serverSeq }) => serverSeq))).toBe(lastSeen + 1);
    back.dispatch(uri, turn('t1'), 1);
    back.dispatch(uri, turn('t2'), 2);
    await back.action(uri, 'session/turnComplete');
    const state = await back.state<SessionState>(uri);
    expect(state.turns.map(({ id }) => id)).toEqual(['t1', 't2']);
    expect(mirror.takeAll(back.received).state(uri)).toEqual(comparable(state));
  });

  it('[REL-012] knows a client as the wire it spoke', async () => {
    const folder = dataFolder();
    const first = await hostOn(folder);
    const old = first.connect();
    await old.request('initialize', { protocolVersion: 1, clientId: 'old', initialSubscriptions: ['agenthost:/root'] });
    await first.stop();
    const again = (await hostOn(folder)).connect();
    const params = { clientId: 'old', lastSeenServerSeq: 1_000, subscriptions: ['agenthost:/root'] };
    expect(await again.request('reconnect', params)).toMatchObject({
      type: 'snapshot',
      snapshots: [{ resource: 'agenthost:/root', state: { agents: [{ provider: 'mock' }] } }],
    });
  });

  it('[REL-012] numbers that were rejected stay rejected, and none of them fails the log', async () => {
    const folder = dataFolder();
    const first = await hostOn(folder);
    const client = await first.client('desk');
    const uri = await client.session();
    client.dispatch(uri, { type: 'session/nonsense' }, 4);
    await client.until(({ params }) => params?.rejectionReason !== undefined);
    await first.stop();
    const [back] = await comeBack(await hostOn(folder), { lastSeenServerSeq: 1, subscriptions: [uri] });
    back.dispatch(uri, { type: 'session/nonsense' }, 4);
    back.dispatch(uri, { type: 'session/titleChanged', title: 'Fine' }, 5);
    expect(await back.action(uri, 'session/titleChanged')).toMatchObject({ origin: { clientSeq: 5 } });
    expect(back.envelopes(uri).map(({ rejectionReason }) => rejectionReason !== undefined)).toEqual([true, false]);
  });

  it('[REL-012] what was asked for while the last one stopped took nothing away', async () => {
    const log = new SlowLog();
    const { host, uri, puppet, join } = await openPuppetFixture({ log });
    const phone = await join('phone');
    const letThrough = log.hold('clientSeqs');
    phone.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await settle();
    puppet.turn.text('said before the end');
    const stopping = host.stop();
    letThrough();
    await stopping;
    const client = await (await startHost({ log })).client();
    expect(lastText(await client.state<SessionState>(uri))).toBe('said before the end');
  });
});
