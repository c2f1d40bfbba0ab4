/** A whole host on the log of a cluster: what it does for clients, and what others leave alone while it works. */
import { once } from 'node:events';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { silentLogger } from '@atrium/core/util/logger.js';
import { CLIENT_KEPT_MS } from '@atrium/core/wire/limits.js';
import type { ChatState } from '@atrium/protocol/ahp-1';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { ClusterNode } from '../../src/cluster/cluster-node.js';
import { createHost } from '../../src/host.js';
import type { EngineUrl } from '../../src/log-postgres/engine-url.js';
import { openPostgresLog } from '../../src/log-postgres/postgres-log.js';
import { bearer, startDeviceHost, TOKEN } from '../support/device-fixture.js';
import { edgeBefore, linkTo } from '../support/edge-fixture.js';
import { FakeClock } from '../support/fake-clock.js';
import { componentsOf } from '../support/host-components.js';
import { nativeClient, nativeSession, userMessage } from '../support/native-client.js';
import { describeWithEngine, freshCluster, takeOver } from '../support/postgres.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { RawClient, ROOT, startTestHost } from '../support/test-host.js';

const OTHERS = 1_500;

/** A node of a cluster whose hosts have an agent that the test holds. */
function startNode(url: EngineUrl, hostId: string) {
  const agent = new PuppetAgent();
  let stop: (reason: string) => void = () => {};
  let host: Awaited<ReturnType<typeof createHost>> | undefined;
  const node = new ClusterNode({
    ...{ url, hostId, drainMs: 0, logger: silentLogger, version: 'test' },
    startHost: async (log) => {
      const started = await createHost({ log, agents: [agent] });
      host = started;
      return { host: started, stop: () => started.stop() };
    },
  });
  const ran = node.run(
    new Promise((resolve) => {
      stop = resolve;
    }),
    new Promise(() => {}),
  );
  onTestFinished(async () => {
    stop('the test is over');
    await ran.catch(() => {});
  });
  const client = async (clientId: string) => {
    const connected = new RawClient();
    await expect.poll(() => host !== undefined, { timeout: 20_000 }).toBe(true);
    host?.connect(connected.transport);
    await connected.initialize(clientId, { protocolVersions: ['1.0.0'] });
    return connected;
  };
  return { node, agent, client, stop: (reason: string) => stop(reason), ran };
}

describeWithEngine('a host on the log of a cluster', () => {
  it('[CLU-004] [REL-015] tells a client that comes back what it missed, however much happened elsewhere meanwhile', async () => {
    const url = await freshCluster();
    const log = await openPostgresLog({ url, owner: await takeOver(url) });
    const host = await startTestHost({ log });
    onTestFinished(() => host.stop());
    const worker = await nativeClient(host, 'worker');
    const [own, other] = [await nativeSession(worker), await nativeSession(worker)];
    const away = await nativeClient(host, 'away', { initialSubscriptions: [own.uri] });
    const lastSeenServerSeq = log.head;
    away.disconnect();
    const rename = (uri: string, title: string) =>
      worker.dispatch(uri, { type: 'session/titleChanged', title } as { type: string });
    for (let count = 0; count < OTHERS; count++) rename(other.uri, `other ${count}`);
    rename(own.uri, 'seen');
    await worker.action(own.uri, 'session/titleChanged');
    const again = host.connect();
    const params = { channel: ROOT, clientId: 'away', lastSeenServerSeq, subscriptions: [own.uri] };
    const answer = await again.request<{ type: string; actions: { action: object }[] }>('reconnect', params);
    expect(log.head - lastSeenServerSeq).toBeGreaterThan(OTHERS);
    expect(answer).toMatchObject({ type: 'replay', actions: [{ action: { title: 'seen' } }] });
  }, 60_000);

  it('[CLU-024] forgets a client that is connected nowhere, and none that is connected at another host', async () => {
    const clock = new FakeClock();
    const log = new MemoryLog();
    // The sockets live by the real clock.
    const { host, server } = await startDeviceHost({ log, clock, server: { clock: systemClock } });
    const { port, edge } = await edgeBefore({ link: await linkTo(server) });
    await expect.poll(() => edge.health.isReady).toBe(true);
    const socket = new WebSocket(`ws://localhost:${port}/`, { headers: bearer(TOKEN) });
    onTestFinished(() => socket.terminate());
    await once(socket, 'open');
    const params = { channel: ROOT, protocolVersions: ['1.0.0'], clientId: 'far' };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }));
    await expect.poll(() => log.record('client:far')).toBeDefined();
    const { clients, connections } = componentsOf(host);
    const purge = () => clients.purge((clientId) => connections.isConnected(clientId));
    await clock.advance(CLIENT_KEPT_MS + 1);
    await purge();
    expect(await log.record('client:far')).toBeDefined();
    socket.close();
    await expect.poll(() => connections.isConnected('far')).toBe(false);
    await clock.advance(CLIENT_KEPT_MS + 1);
    await purge();
    expect(await log.record('client:far')).toBeUndefined();
  });

  it('[CLU-022] ends nothing of a host that works when it starts or stands by, and takes up what dead terms left', async () => {
    const url = await freshCluster();
    const first = startNode(url, 'a');
    const person = await first.client('person');
    const { chat } = await nativeSession(person, { provider: 'puppet' });
    const begin = (turnId: string) =>
      person.dispatch(chat, { type: 'chat/turnStarted', turnId, message: userMessage('go') } as { type: string });
    begin('t1');
    const puppet = await first.agent.turn(0);
    puppet.turn.text('half of it');

    const second = startNode(url, 'b');
    await expect.poll(() => second.node.readiness.text, { timeout: 20_000 }).toBe('stand-by; a is active');
    for (let looks = 0; looks < 3; looks++) second.node.lookNow();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    second.stop('again');
    await second.ran;
    const third = startNode(url, 'b');
    await expect.poll(() => third.node.readiness.text, { timeout: 20_000 }).toBe('stand-by; a is active');
    puppet.turn.text(', and the rest');
    puppet.finish();
    await person.action(chat, 'chat/turnComplete');
    expect(person.envelopes(chat).map(({ action }) => action.type)).not.toContain('chat/error');

    begin('t2');
    await first.agent.turn(1);
    first.stop('it leaves without waiting');
    await first.ran;
    const survivor = await third.client('survivor');
    await survivor.request('subscribe', { channel: chat });
    const { turns, activeTurn } = await survivor.state<ChatState>(chat);
    expect(activeTurn).toBeUndefined();
    expect(turns.map(({ id, state }) => [id, state])).toEqual([
      ['t1', 'complete'],
      ['t2', expect.stringMatching(/error|cancelled/)],
    ]);
    expect(third.agent.turns).toEqual([]);
  }, 60_000);
});
