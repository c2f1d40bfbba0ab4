/** Hosts of one cluster, on the PostgreSQL of the tests. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Client, connect } from '@atrium/client';
import { describe, expect, inject, onTestFinished } from 'vitest';
import { activePort, readiness } from '../../../../scripts/balancer.mjs';
import { findPostgres, sharedPostgres } from '../../../../scripts/postgres.mjs';
import { isBuilt } from './host.js';
import { atrium, type Ended, type Environment, endOf, type Run, spawnAtrium } from './run-cli.js';

export const TOKEN = 'token-of-the-cluster-in-tests';
export const SECRET = 'secret-of-the-cluster-in-tests';
const isThere = Boolean(process.env.ATRIUM_TEST_POSTGRES) || findPostgres() !== undefined;

/** Without PostgreSQL they are skipped, and fail where `CI` is set. */
export function describeCluster(title: string, tests: () => void): void {
  const reason = isBuilt
    ? 'there is no PostgreSQL server: npm install'
    : 'the command has not been built: npm run build';
  if (isBuilt && (isThere || process.env.CI)) describe(title, { timeout: 60_000 }, tests);
  else describe.skip(`${title} (skipped: ${reason})`, tests);
}

interface ClusterOptions {
  /** Without its tables. */
  readonly isEmpty?: boolean;
  /** The address of another engine than that of the tests. */
  readonly engine?: string;
  /** What the agent does, for a folder. */
  script?(folder: string): object;
}

/** A folder with the files that all hosts share, and an engine with the tables. */
export async function newCluster(options: ClusterOptions = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-cluster-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const engine = new URL(options.engine ?? (await sharedPostgres(inject('engineFolder'))));
  engine.searchParams.set('schema', `t${randomBytes(8).toString('hex')}`);
  const env: Environment = { ATRIUM_CLUSTER_URL: engine.href };
  const files = {
    token: path.join(folder, 'token'),
    secret: path.join(folder, 'secret'),
    script: path.join(folder, 'script.json'),
  };
  await Promise.all([writeFile(files.token, TOKEN, { mode: 0o600 }), writeFile(files.secret, SECRET, { mode: 0o600 })]);
  await writeFile(files.script, JSON.stringify(options.script?.(folder) ?? SCRIPT));
  const run = (args: readonly string[]): Promise<Ended> => endOf(atrium(args, env));
  if (!options.isEmpty) await run(['cluster', 'init']);
  return { folder, env, files, run, shared: path.join(folder, 'shared') };
}

const SCRIPT = {
  provider: 'mock',
  displayName: 'Mock',
  models: [{ id: 'mock-1', name: 'Mock one' }],
  prompts: {
    hello: [{ text: 'Hello.' }],
    slow: [{ text: 'I begin.' }, { delayMs: 1_500 }, { text: ' I end.' }],
    forever: [{ text: 'I begin.' }, { delayMs: 600_000 }, { text: ' I end.' }],
    client: [{ callTool: { name: 'lookup', input: { word: 'fox' } } }, { text: 'It is an animal.' }],
    note: [{ callTool: { name: 'shell', input: { command: 'echo once >> noted.txt' } } }, { text: 'Noted.' }],
    work: [{ callTool: { name: 'shell', input: { command: 'echo once >> ran.txt; sleep 600' } } }],
  },
};

export type TestCluster = Awaited<ReturnType<typeof newCluster>>;

export interface ClusterHost<R extends Run = Run> {
  readonly run: R;
  readonly port: number;
}

function hostArgs({ folder, files, shared }: TestCluster, id: string, link: number): string[] {
  return [
    ...['serve', '--cluster', '--quiet', '--port', '0', '--host-id', id, '--data-dir', path.join(folder, `data-${id}`)],
    ...['--connection-token-file', files.token, '--cluster-secret-file', files.secret, '--script', files.script],
    ...['--link-address', `127.0.0.1:${link}`, '--shared-dir', shared, '--log-level', 'info'],
    ...['--behind-proxy', '127.0.0.1'],
  ];
}

/** In this process. */
export async function startClusterHost(
  cluster: TestCluster,
  id: string,
  args: readonly string[] = [],
): Promise<ClusterHost> {
  return started(atrium([...hostArgs(cluster, id, await freePort()), ...args], cluster.env));
}

/** One that can be killed. */
export async function spawnClusterHost(cluster: TestCluster, id: string, args: readonly string[] = []) {
  return started(spawnAtrium([...hostArgs(cluster, id, await freePort()), ...args], cluster.env));
}

/** Command lines of hosts that are not going to start. */
export async function refused(
  cluster: TestCluster,
  id: string,
  args: readonly string[],
  env: Environment = {},
): Promise<Ended> {
  return endOf(atrium([...hostArgs(cluster, id, await freePort()), ...args], { ...cluster.env, ...env }));
}

async function started<R extends Run>(run: R): Promise<ClusterHost<R>> {
  return { run, port: Number((await run.says(/^READY:(\d+)\n/))[1]) };
}

/** Waits until one of them is the active host, and says which. */
export async function activeAmong(hosts: readonly ClusterHost[]): Promise<ClusterHost> {
  for (;;) {
    const port = await activePort(hosts.map((host) => host.port));
    const active = hosts.find((host) => host.port === port);
    if (active) return active;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export { readiness };

/** Waits until clients are served there, through the active host or by it. */
export async function isServing({ port }: ClusterHost): Promise<void> {
  await expect.poll(async () => (await readiness(port)).isReady, { timeout: 20_000 }).toBe(true);
}

/** A client of one host, which comes back there. */
export async function clientAt(host: ClusterHost): Promise<Client> {
  await isServing(host);
  const client = await connect({ url: `ws://127.0.0.1:${host.port}`, token: TOKEN });
  onTestFinished(() => client.close());
  return client;
}

export async function openSession(client: Client, { folder }: TestCluster) {
  return client.open(await client.createSession({ workingDirectories: [pathToFileURL(folder).href] }));
}

/** Says something, and gives the turn as the client sees it whenever it is asked. */
export async function say({ chat }: Awaited<ReturnType<typeof openSession>>, text: string) {
  const turnId = randomUUID();
  await chat.dispatch({ type: 'chat/turnStarted', turnId, message: { text } });
  const parts = () => {
    const { activeTurn, turns } = chat.state;
    return (activeTurn?.id === turnId ? activeTurn : turns.find(({ id }) => id === turnId))?.responseParts ?? [];
  };
  return {
    turnId,
    text: () =>
      parts()
        .flatMap((part) => (part.kind === 'markdown' ? part.content : []))
        .join(''),
    errors: () => parts().flatMap((part) => (part.kind === 'error' ? part.error.errorType : [])),
    calls: () => parts().flatMap((part) => (part.kind === 'toolCall' ? part.toolCall : [])),
    isOver: () => chat.state.turns.some(({ id }) => id === turnId),
  };
}

/** A call that was allowed, has begun to work, and does not end by itself. `ran` holds a line for each time it began. */
export async function longCall(session: Awaited<ReturnType<typeof openSession>>, { folder }: TestCluster) {
  const call = await say(session, 'work');
  await expect.poll(() => call.calls().map(({ status }) => status)).toEqual(['pending-confirmation']);
  const [{ toolCallId = '' } = {}] = call.calls();
  const allowed = { turnId: call.turnId, toolCallId, approved: true, confirmed: 'user-action' } as const;
  await session.chat.dispatch({ type: 'chat/toolCallConfirmed', ...allowed });
  const ran = () => readFile(path.join(folder, 'ran.txt'), 'utf8').catch(() => '');
  await expect.poll(ran).toBe('once\n');
  return { call, ran };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}
