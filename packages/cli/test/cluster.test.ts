import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Client, connect } from '@atrium/client';
import { Engine, engineUrl } from '@atrium/host/cluster';
import { expect, it, onTestFinished } from 'vitest';
import { startBalancer } from '../../../scripts/balancer.mjs';
import {
  activeAmong,
  type ClusterHost,
  describeCluster,
  longCall,
  newCluster,
  openSession,
  readiness,
  refused,
  SECRET,
  say,
  spawnClusterHost,
  startClusterHost,
  TOKEN,
} from './support/cluster.js';
import { newDataFolder, startHost } from './support/host.js';
import { atrium, endOf } from './support/run-cli.js';

/** A client that comes back at whichever host is ready. */
async function clientOf(hosts: readonly ClusterHost[]): Promise<Client> {
  const balancer = await startBalancer(() => hosts.map(({ port }) => port));
  onTestFinished(() => balancer.close());
  await activeAmong(hosts);
  const client = await connect({ url: `ws://127.0.0.1:${balancer.port}`, token: TOKEN });
  onTestFinished(() => client.close());
  return client;
}

describeCluster('a host of a cluster', () => {
  it('[CLU-006] [CLU-009] takes over within seconds when the active one is killed in the middle of a turn', async () => {
    const cluster = await newCluster();
    const hosts = [await spawnClusterHost(cluster, 'a'), await spawnClusterHost(cluster, 'b')];
    const client = await clientOf(hosts);
    const session = await openSession(client, cluster);
    const cut = await say(session, 'forever');
    await expect.poll(cut.text).toBe('I begin.');
    const { call, ran } = await longCall(await openSession(client, cluster), cluster);
    const active = await activeAmong(hosts);
    active.run.signal('SIGKILL');
    const next = await activeAmong(hosts.filter((host) => host !== active));
    await expect.poll(cut.isOver).toBe(true);
    expect([cut.text(), cut.errors()]).toEqual(['I begin.', ['host-restarted']]);
    const after = await say(session, 'hello');
    await expect.poll(after.isOver).toBe(true);
    expect(after.text()).toBe('Hello.');
    await expect.poll(call.isOver).toBe(true);
    expect(call.calls()).toMatchObject([{ status: 'completed', success: false, error: { code: 'INTERRUPTED' } }]);
    expect([call.errors(), await ran()]).toEqual([['host-restarted'], 'once\n']);
    expect(session.chat.state.turns.map(({ id }) => id)).toEqual([cut.turnId, after.turnId]);
    expect((await readiness(next.port)).text).toBe('active');
  });

  it('[CLU-025] [CLU-026] that is stopped waits for its turn, and the clients go on at the next one', async () => {
    const cluster = await newCluster();
    const first = await startClusterHost(cluster, 'a');
    await activeAmong([first]);
    const second = await startClusterHost(cluster, 'b');
    await expect.poll(async () => (await readiness(second.port)).text).toBe('stand-by; a is active');
    const client = await clientOf([first, second]);
    const session = await openSession(client, cluster);
    const slow = await say(session, 'slow');
    await expect.poll(slow.text).toBe('I begin.');
    first.run.signal('SIGTERM');
    expect(await first.run.ended()).toBe(0);
    await expect.poll(slow.isOver).toBe(true);
    expect([slow.text(), slow.errors()]).toEqual(['I begin. I end.', []]);
    expect((await activeAmong([second])).port).toBe(second.port);
    const after = await say(session, 'hello');
    await expect.poll(after.isOver).toBe(true);
    expect(session.chat.state.turns.map(({ id }) => id)).toEqual([slow.turnId, after.turnId]);
  });

  it('[CLU-026] leaves when it is drained, also in the middle of a turn that takes longer than it may wait', async () => {
    const cluster = await newCluster();
    const first = await startClusterHost(cluster, 'a', ['--drain', '1']);
    const client = await clientOf([first]);
    const session = await openSession(client, cluster);
    const turn = await say(session, 'forever');
    await expect.poll(turn.text).toBe('I begin.');
    await expect.poll(async () => (await cluster.run(['cluster', 'status'])).stdout).toMatch(/^a +1 +active +1 +1 /m);
    expect(await cluster.run(['cluster', 'drain', 'nobody'])).toMatchObject({ code: 2 });
    expect(await cluster.run(['cluster', 'drain', 'a'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('a leaves'),
    });
    expect(await first.run.ended()).toBe(0);
    expect((await cluster.run(['cluster', 'status'])).stdout).toMatch(/^a +1 +gone /m);
  });

  it('[CLU-028] does not start with something that the others do not have, and says what to do', async () => {
    const cluster = await newCluster();
    const host = await startClusterHost(cluster, 'a');
    await activeAmong([host]);
    const other = path.join(cluster.folder, 'other');
    await writeFile(other, 'another-token-or-secret', { mode: 0o600 });
    const token = await refused(cluster, 'b', ['--connection-token-file', other]);
    expect(token).toMatchObject({ code: 2, stderr: expect.stringContaining('another connection token') });
    const secret = await refused(cluster, 'b', ['--cluster-secret-file', other]);
    expect(secret).toMatchObject({ code: 2, stderr: expect.stringContaining('another cluster secret') });
    const empty = await newCluster({ isEmpty: true });
    const untold = await refused(empty, 'b', []);
    expect(untold).toMatchObject({ code: 2, stderr: expect.stringContaining('atrium cluster init') });
    const foreign = await refused(await newCluster(), 'a', ['--data-dir', path.join(cluster.folder, 'data-b')]);
    expect(foreign).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not the cluster that this data folder belongs to'),
    });
    const away = await refused(cluster, 'b', [], { ATRIUM_CLUSTER_URL: 'postgres://atrium@db.example/atrium' });
    expect(away).toMatchObject({ code: 2, stderr: expect.stringContaining('sslmode=verify-full') });
    const nowhere = await refused(cluster, 'b', [], { ATRIUM_CLUSTER_URL: '' });
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('ATRIUM_CLUSTER_URL') });
    const tokenless = await endOf(atrium(['serve', '--cluster', '--data-dir', await newDataFolder()], cluster.env));
    expect(tokenless).toMatchObject({ code: 2, stderr: expect.stringContaining('--connection-token-file') });
  });

  it('[CLU-028] does not start where another folder is in place of a shared one, or the one of --shared-dir is missing', async () => {
    const cluster = await newCluster();
    const volume = path.join(cluster.folder, 'work');
    expect(await cluster.run(['cluster', 'volume', volume])).toMatchObject({ code: 2 });
    await mkdir(volume);
    expect(await cluster.run(['cluster', 'volume', volume])).toMatchObject({ code: 0 });
    expect(await cluster.run(['cluster', 'volume', volume])).toMatchObject({ code: 0 });
    await rm(path.join(volume, '.atrium-volume'));
    const shared = ['--shared-dir', path.join(volume, '.atrium')];
    expect(await refused(cluster, 'a', shared)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--shared-dir is on it'),
    });
    expect(await readdir(volume)).toEqual([]);
    const doctor = await cluster.run(['doctor', '--cluster']);
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining('Mount the shared folder there') });
    expect(await cluster.run(['cluster', 'volume', volume])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('another id'),
    });
    await writeFile(path.join(volume, '.atrium-volume'), 'another-id-00001');
    expect(await refused(cluster, 'a', [])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('mount the same one here'),
    });
  });

  it('[CLU-029] tells no secret: neither in its log, nor in the engine, nor to those who ask', async () => {
    const cluster = await newCluster();
    const password = 'password-in-the-address';
    const url = new URL(cluster.env.ATRIUM_CLUSTER_URL ?? '');
    url.password = password;
    const secret = { ...cluster, env: { ATRIUM_CLUSTER_URL: url.href } };
    const host = await startClusterHost(secret, 'a', ['--log-level', 'debug']);
    const session = await openSession(await clientOf([host]), cluster);
    await expect.poll((await say(session, 'hello')).isOver).toBe(true);
    const engine = new Engine(engineUrl(url.href), 'test');
    onTestFinished(() => engine.close());
    const tables = ['meta', 'hosts', 'entries', 'records', 'archives', 'turns', 'volumes'];
    const rows = await Promise.all(tables.map((table) => engine.run(`SELECT * FROM ${table}`)));
    const status = await endOf(atrium(['cluster', 'status', '--json'], secret.env));
    const doctor = await endOf(
      atrium(['doctor', '--cluster', '--json', '--cluster-secret-file', cluster.files.secret], secret.env),
    );
    expect(doctor.stdout).toContain('a answers at');
    const told = [JSON.stringify(rows), host.run.said.stdout, host.run.said.stderr, status.stdout, doctor.stdout];
    for (const text of told) for (const hidden of [password, TOKEN, SECRET]) expect(text).not.toContain(hidden);
  });
});

describeCluster('atrium cluster', () => {
  it('[CLU-001] takes over the history of a single host: every session, turn and number', async () => {
    const cluster = await newCluster();
    const { dataDir, run, serve } = await startHost();
    expect((await run(['run', 'hello'])).code).toBe(0);
    const before = await run(['sessions', 'list', '--json']);
    serve.signal('SIGTERM');
    await serve.ended();
    const imported = await cluster.run(['cluster', 'import', dataDir, '--shared-dir', cluster.shared]);
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('Imported 1 sessions') });
    expect(await cluster.run(['cluster', 'import', dataDir])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('history already'),
    });
    const host = await startClusterHost(cluster, 'a');
    await activeAmong([host]);
    const url = ['--url', `ws://127.0.0.1:${host.port}`, '--token', TOKEN];
    const after = await cluster.run(['sessions', 'list', '--json', ...url]);
    const titles = (text: string) =>
      JSON.parse(text).map(({ title, resource }: { title: string; resource: string }) => [title, resource]);
    expect(titles(after.stdout)).toEqual(titles(before.stdout));
  });

  it('[CLU-027] makes the tables once, and refuses those of a later release', async () => {
    const cluster = await newCluster({ isEmpty: true });
    expect((await cluster.run(['cluster', 'init'])).stdout).toContain('The tables are made');
    expect((await cluster.run(['cluster', 'init'])).stdout).toContain('there already');
    expect((await cluster.run(['cluster', 'status'])).stdout).toContain('No host has joined yet');
    const engine = new Engine(engineUrl(cluster.env.ATRIUM_CLUSTER_URL ?? ''), 'test');
    onTestFinished(() => engine.close());
    await engine.run('UPDATE meta SET level = 99');
    for (const args of [
      ['cluster', 'init'],
      ['cluster', 'status'],
    ])
      expect(await cluster.run(args)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('update this program'),
      });
    expect(await refused(cluster, 'a', [])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('update this program'),
    });
  });

  it('[CLU-014] goes on far above the numbers of a backup when somebody says that it was restored', async () => {
    const cluster = await newCluster();
    expect((await cluster.run(['cluster', 'restored'])).code).toBe(0);
    expect(JSON.parse((await cluster.run(['cluster', 'status', '--json'])).stdout).head).toBe(1_000_000);
  });
});
