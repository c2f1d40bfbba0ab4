/** What the owner of a cluster is told of its hosts, by the host that is active. */
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { CLUSTER_MEMBER, type ClusterReport, DRAIN_HOST_METHOD, HOSTS_METHOD } from '@atrium/protocol/ahp-1';
import { expect, it, onTestFinished } from 'vitest';
import { clusterView } from '../../src/cluster/cluster-view.js';
import { createHost } from '../../src/host.js';
import { type EngineUrl, engineUrl } from '../../src/log-postgres/engine-url.js';
import { openPostgresLog } from '../../src/log-postgres/postgres-log.js';
import { describeWithEngine, freshCluster, onEngine, takeOver } from '../support/postgres.js';
import { RawClient } from '../support/test-host.js';

/** A cluster of the active host a, and of b, which stands by. */
async function cluster() {
  const url = await freshCluster();
  const owner = await takeOver(url);
  const join = ['b', 'b:9500', '0.2.0', 1];
  await onEngine(url, (engine) => engine.run('SELECT join_cluster($1, $2, $3, $4)', join));
  const log = await openPostgresLog({ url, owner });
  const host = await createHost({ log, agents: [], cluster: clusterView({ url, hostId: 'a' }) });
  onTestFinished(() => host.stop());
  return { url, host };
}

type Access = Parameters<Awaited<ReturnType<typeof createHost>>['connect']>[1];

async function clientOf(host: Awaited<ReturnType<typeof createHost>>, clientId: string, access?: Access) {
  const client = new RawClient();
  host.connect(client.transport, access);
  const greeting = await client.initialize(clientId, { protocolVersions: ['1.0.0'] });
  return { client, greeting: greeting as unknown as Record<string, unknown> };
}

const wanted = async (url: EngineUrl, id: string) =>
  (
    await onEngine(url, (engine) =>
      engine.run<{ wanted: string | null }>('SELECT wanted FROM hosts WHERE id = $1', [id]),
    )
  )[0]?.wanted;

describeWithEngine('the hosts of a cluster', () => {
  it('[CLU-043] are told to the owner with their states, and one of them is sent away', async () => {
    const { url, host } = await cluster();
    const { client, greeting } = await clientOf(host, 'owner');
    expect(greeting[CLUSTER_MEMBER]).toEqual({ host: 'a' });
    const { hosts, engine, volumes } = await client.request<ClusterReport>(HOSTS_METHOD, {});
    expect(hosts).toMatchObject([
      { id: 'a', state: 'active', isLeaving: false },
      { id: 'b', state: 'stand-by', isLeaving: false, version: '0.2.0', clients: 0, working: 0 },
    ]);
    expect(hosts.every(({ joinedAt }) => Math.abs(Date.parse(joinedAt) - Date.now()) < 600_000)).toBe(true);
    expect(engine).toMatchObject({ replicas: 0, synchronous: 0 });
    expect(engine.version).toBeGreaterThanOrEqual(15);
    expect(volumes).toEqual([]);
    expect(JSON.stringify(hosts)).not.toContain('9500');
    await client.request(DRAIN_HOST_METHOD, { host: 'b' });
    expect(await wanted(url, 'b')).toBe('drain');
    const after = await client.request<ClusterReport>(HOSTS_METHOD, {});
    expect(after.hosts.map(({ isLeaving }) => isLeaving)).toEqual([false, true]);
    for (const unknown of ['c', 7]) {
      const { error } = await client.ask(DRAIN_HOST_METHOD, { host: unknown });
      expect(error?.message).toMatch(/host/);
    }
  });

  it('[CLU-043] [DEV-020] are told to nobody else', async () => {
    const { url, host } = await cluster();
    const credential = { kind: 'device', id: 'd', name: 'phone' } as const;
    const { client, greeting } = await clientOf(host, 'driver', { role: 'driver', credential } as Access);
    expect(greeting).not.toHaveProperty([CLUSTER_MEMBER]);
    for (const method of [HOSTS_METHOD, DRAIN_HOST_METHOD])
      expect((await client.ask(method, { host: 'b' })).error?.message).toMatch(/owner/);
    expect(await wanted(url, 'b')).toBeNull();
  });

  it('[CLU-043] cannot be told while the engine is away, and the answer says so', async () => {
    const cluster = clusterView({ url: engineUrl('postgres://127.0.0.1:1/nowhere'), hostId: 'a' });
    const host = await createHost({ log: new MemoryLog(), agents: [], cluster });
    onTestFinished(() => host.stop());
    const { client } = await clientOf(host, 'owner');
    expect((await client.ask(HOSTS_METHOD, {})).error?.message).toMatch(/engine .* cannot be reached now/);
  });
});
