/** Hosts that run agents for the active one, in processes of their own, on a real PostgreSQL. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import {
  activeAmong,
  type ClusterHost,
  clientAt,
  describeCluster,
  isServing,
  newCluster,
  readiness,
  say,
  spawnClusterHost,
  type TestCluster,
} from './support/cluster.js';
import type { ProcessRun } from './support/run-cli.js';
import { clusterWithAgent, newWorkSession, programsIn, type WorkSession } from './support/working-agents.js';

const WAIT = { timeout: 30_000 };

/** The host a, which is active, and others that work for it. */
async function workingCluster(ids: readonly string[], ...args: string[]) {
  const cluster = await clusterWithAgent();
  const a = await spawnClusterHost(cluster, 'a', args);
  await activeAmong([a]);
  const others = [];
  for (const id of ids) others.push(await spawnClusterHost(cluster, id, ['--work', ...args]));
  await Promise.all(others.map(isServing));
  const client = await clientAt(a);
  await expect.poll(() => programsOf(cluster), WAIT).toEqual(['-', ...ids.map(() => '0')]);
  return { cluster, a, others, client };
}

async function programsOf(cluster: TestCluster): Promise<string[]> {
  const { stdout } = await cluster.run(['cluster', 'status']);
  return stdout.split('\n').flatMap((line) => /^[a-c] +\d+ +\S.*? +\S+ +\S+ +(\d+|-) +\d+\.\d/.exec(line)?.[1] ?? []);
}

/** Says something, and waits for the process that answered, which is a host. */
async function hostOf(session: WorkSession): Promise<number> {
  const turn = await say(session, 'hello');
  await expect.poll(turn.isOver, WAIT).toBe(true);
  expect(turn.errors()).toEqual([]);
  return Number(/Hello from (\d+)/.exec(turn.text())?.[1]);
}

function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file) && readFileSync(file, 'utf8') !== '';
}

const pidOf = ({ run }: ClusterHost<ProcessRun>) => run.pid ?? 0;

describeCluster('hosts that work for the active one', () => {
  it('[CLU-044] [CLU-045] [CLU-049] share the agents of its sessions among them, and the active one runs none', {
    timeout: 120_000,
  }, async () => {
    const { cluster, client, others } = await workingCluster(['b', 'c']);
    const sessions = await Promise.all([1, 2, 3, 4].map(() => newWorkSession(client, cluster)));
    const hosts = await Promise.all(sessions.map(hostOf));
    const [b = 0, c = 0] = others.map(pidOf);
    expect(hosts.filter((pid) => pid === b)).toHaveLength(2);
    expect(hosts.filter((pid) => pid === c)).toHaveLength(2);
    // Each stays where it is.
    expect(await Promise.all(sessions.map(hostOf))).toEqual(hosts);
    await expect.poll(() => programsOf(cluster), WAIT).toEqual(['-', '2', '2']);
    const doctor = await cluster.run(['doctor', '--cluster']);
    expect(doctor.stdout).toContain('b, c run agents for a');
  });

  it('[CLU-046] end only their own turns when they are killed; the sessions go on at another host', async () => {
    const { cluster, client, others } = await workingCluster(['b', 'c']);
    const sessions = [await newWorkSession(client, cluster), await newWorkSession(client, cluster)];
    const hosts = await Promise.all(sessions.map(hostOf));
    const [b, c] = others;
    const [cut, kept] = hosts[0] === (b && pidOf(b)) ? sessions : [...sessions].reverse();
    if (!b || !c || !cut || !kept) throw new Error('each session has a host');
    const forever = await say(cut, 'forever');
    const slow = await say(kept, 'slow 4000');
    await expect.poll(() => [forever.text(), slow.text()], WAIT).toEqual(['I begin.', 'I begin.']);
    b.run.signal('SIGKILL');
    await expect.poll(forever.isOver, WAIT).toBe(true);
    expect([forever.text(), forever.errors()]).toEqual(['I begin.', ['host-lost']]);
    expect(slow.isOver()).toBe(false);
    await expect.poll(() => hostOf(cut), WAIT).toBe(pidOf(c));
    await expect.poll(slow.isOver, WAIT).toBe(true);
    expect([slow.text(), slow.errors()]).toEqual(['I begin. I end.', []]);
  });

  it('[CLU-046] end their turns when they fall silent, and what they ran when they are heard again', async () => {
    const { cluster, client, others } = await workingCluster(['b']);
    const session = await newWorkSession(client, cluster);
    await hostOf(session);
    const turn = await say(session, 'forever');
    await expect.poll(turn.text, WAIT).toBe('I begin.');
    const [program] = programsIn(cluster);
    others[0]?.run.signal('SIGSTOP');
    await expect.poll(turn.isOver, WAIT).toBe(true);
    expect(turn.errors()).toEqual(['host-lost']);
    // Until another host works, the active one does.
    expect(await hostOf(session)).not.toBe(others[0] && pidOf(others[0]));
    others[0]?.run.signal('SIGCONT');
    await expect.poll(() => isRunning(program?.pid ?? 0), WAIT).toBe(false);
  });

  it('[CLU-046] never run a call again that was under way when they were killed', async () => {
    const { cluster, client, others } = await workingCluster(['b', 'c']);
    const session = await newWorkSession(client, cluster);
    const host = await hostOf(session);
    const turn = await say(session, 'note plum');
    await expect.poll(() => turn.calls().map(({ status }) => status), WAIT).toEqual(['pending-confirmation']);
    others.find((other) => pidOf(other) === host)?.run.signal('SIGKILL');
    await expect.poll(turn.isOver, WAIT).toBe(true);
    expect(turn.errors()).toEqual(['host-lost']);
    expect(turn.calls().map(({ status }) => status)).not.toContain('pending-confirmation');
    await hostOf(session);
    expect(existsSync(path.join(cluster.folder, 'noted'))).toBe(false);
  });

  it('[CLU-045] [CLU-047] end what they run when the active one is killed, and work for the next', async () => {
    const { cluster, a, client, others } = await workingCluster(['b', 'c']);
    const sessions = [await newWorkSession(client, cluster), await newWorkSession(client, cluster)];
    const places = await Promise.all(sessions.map(hostOf));
    const [b] = others;
    if (!b) throw new Error('b works');
    const reader = await clientAt(b);
    const watched = await reader.open(sessions[0]?.session.uri ?? '');
    const turn = await say(watched, 'forever');
    await expect.poll(turn.text, WAIT).toBe('I begin.');
    const before = programsIn(cluster).map(({ pid }) => pid);
    a.run.signal('SIGKILL');
    await expect.poll(() => before.map(isRunning), WAIT).toEqual(before.map(() => false));
    const next = await activeAmong(others);
    await expect.poll(turn.isOver, WAIT).toBe(true);
    expect(turn.errors()).toEqual(['host-restarted']);
    // Each goes on where it was. One host works for the next active one, which works itself as well.
    const later = await clientAt(next);
    const opened = await Promise.all(sessions.map(({ session }) => later.open(session.uri)));
    expect(await Promise.all(opened.map(hostOf))).toEqual(places);
    const anew = [await newWorkSession(later, cluster), await newWorkSession(later, cluster)];
    const hosts = await Promise.all(anew.map(hostOf));
    expect(new Set(hosts)).toEqual(new Set(others.map(pidOf)));
  });

  it('[CLU-047] end what they run for an active one that was paused beyond its time', async () => {
    const { cluster, a, client, others } = await workingCluster(['b']);
    const session = await newWorkSession(client, cluster);
    await hostOf(session);
    const [b] = others;
    if (!b) throw new Error('b works');
    const watched = await (await clientAt(b)).open(session.session.uri);
    const turn = await say(watched, 'forever');
    await expect.poll(turn.text, WAIT).toBe('I begin.');
    const [program] = programsIn(cluster);
    a.run.signal('SIGSTOP');
    await activeAmong([b]);
    await expect.poll(() => isRunning(program?.pid ?? 0), WAIT).toBe(false);
    await expect.poll(turn.isOver, WAIT).toBe(true);
    a.run.signal('SIGCONT');
    await expect.poll(async () => (await readiness(a.port)).text, WAIT).toBe('stand-by; b is active');
    expect(await hostOf(watched)).toBe(pidOf(b));
  });

  it('[CLU-048] get no more agents when they are drained, let turns end, and leave', async () => {
    const { cluster, client, others } = await workingCluster(['b', 'c'], '--drain', '60');
    const sessions = await Promise.all([1, 2, 3, 4].map(() => newWorkSession(client, cluster)));
    const hosts = await Promise.all(sessions.map(hostOf));
    const [b, c] = others;
    if (!b || !c) throw new Error('both work');
    const [busy, idle] = sessions.filter((_, at) => hosts[at] === pidOf(b));
    if (!busy || !idle) throw new Error('two sessions are on b');
    const slow = await say(busy, 'slow 4000');
    await expect.poll(slow.text, WAIT).toBe('I begin.');
    expect(await cluster.run(['cluster', 'drain', 'b'])).toMatchObject({ code: 0 });
    await expect.poll(() => programsOf(cluster), WAIT).toEqual(['-', '1', '2']);
    expect(slow.isOver()).toBe(false);
    expect(await hostOf(idle)).toBe(pidOf(c));
    expect(await b.run.ended()).toBe(0);
    expect([slow.text(), slow.errors(), slow.isOver()]).toEqual(['I begin. I end.', [], true]);
    expect(await hostOf(busy)).toBe(pidOf(c));
  });

  it('[CLU-044] need a link', async () => {
    const { run, folder, files } = await newCluster();
    const args = ['--data-dir', path.join(folder, 'data'), '--connection-token-file', files.token];
    const said = await run(['serve', '--cluster', '--work', ...args]);
    expect(said).toMatchObject({ code: 2, stderr: expect.stringContaining('Name --link-address') });
  });
});
