/** A host with a scripted agent, and commands that find it by its data folder. */
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import {
  atrium,
  type Ended,
  type Environment,
  endOf,
  type Later,
  type LocalRun,
  type ProcessRun,
  type Run,
  spawnAtrium,
} from './run-cli.js';

/** The page that a host serves, and the library that it is made of, are what the compiler made of them. */
export const isBuilt = existsSync(fileURLToPath(new URL('../../dist/main.js', import.meta.url)));

const SHARED_START_MAX_MS = 60_000;
export const SERVE = ['serve', '--quiet', '--port', '0'];
export const AGENT_SCRIPT = fileURLToPath(new URL('../fixtures/agent-script.json', import.meta.url));

/** A data folder that does not exist yet. */
export async function newDataFolder(later: Later = onTestFinished): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-cli-'));
  later(() => rm(folder, { recursive: true, force: true }));
  return path.join(folder, 'data');
}

export interface TestHost {
  readonly dataDir: string;
  /** Where the host and its commands run. */
  readonly cwd: string;
  readonly env: Environment;
  /** The command that serves. */
  readonly serve: Run;
  /** Runs one command against the host to its end. */
  run(args: readonly string[], input?: string): Promise<Ended>;
  /** Starts one that goes on. */
  start(args: readonly string[]): LocalRun;
  /** Starts one as a process. */
  spawn(args: readonly string[]): ProcessRun;
}

/** A host that a test can kill, suspend, or stop with `atrium service stop`. */
export interface HostProcess extends TestHost {
  readonly serve: ProcessRun;
}

/** A host in this process: `atrium service stop` would end the tests. */
export async function startHost(
  hostArgs: readonly string[] = [],
  later: Later = onTestFinished,
  script = AGENT_SCRIPT,
  ownConfig = false,
): Promise<TestHost> {
  const plain = await newFolders(later, script);
  const config = path.join(path.dirname(plain.dataDir), 'config');
  const folders = ownConfig ? { ...plain, env: { ...plain.env, XDG_CONFIG_HOME: config } } : plain;
  const serve = atrium([...SERVE, ...hostArgs], folders.env, { cwd: folders.cwd, later });
  return ready({ ...folders, serve });
}

export async function startHostProcess(): Promise<HostProcess> {
  const folders = await newFolders(onTestFinished);
  const serve = spawnAtrium(SERVE, folders.env, { cwd: folders.cwd });
  return { ...(await ready({ ...folders, serve })), serve };
}

type Folders = Pick<TestHost, 'cwd' | 'dataDir' | 'env'>;

/** The commands do not run in the repository: the host would look through all of it after every turn. */
async function newFolders(later: Later, script = AGENT_SCRIPT): Promise<Folders> {
  const dataDir = await newDataFolder(later);
  const cwd = await newFolder({ dataDir });
  return { cwd, dataDir, env: { ATRIUM_DATA_DIR: dataDir, ATRIUM_SCRIPT: script, NO_COLOR: '1' } };
}

async function ready(host: Folders & Pick<TestHost, 'serve'>): Promise<TestHost> {
  await host.serve.says(/^READY:\d+$/m);
  const start = (args: readonly string[]) => atrium(args, host.env, { cwd: host.cwd });
  const run = (args: readonly string[], input?: string) => endOf(start(args), input);
  return { ...host, start, run, spawn: (args) => spawnAtrium(args, host.env, { cwd: host.cwd }) };
}

/**
 * One host for all tests of a `describe`: to start one for each takes longer than what most of them look at. `ownConfig`: with a
 * folder of its own for the configuration of the person, for tests that write it.
 */
export function sharedHost({ ownConfig = false } = {}): () => TestHost {
  const cleanUps: (() => Promise<void>)[] = [];
  let host: TestHost | undefined;
  beforeAll(async () => {
    host = await startHost([], (cleanUp) => void cleanUps.unshift(cleanUp), AGENT_SCRIPT, ownConfig);
  }, SHARED_START_MAX_MS);
  afterAll(async () => {
    for (const cleanUp of cleanUps) await cleanUp();
  });
  return () => {
    if (!host) throw new Error('the host has not been started');
    return host;
  };
}

/** A folder beside the data folder of a host, for one test. */
export async function newFolder({ dataDir }: Pick<TestHost, 'dataDir'>): Promise<string> {
  return realpath(await mkdtemp(path.join(path.dirname(dataDir), 'work-')));
}
