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
  type ProcessRun,
  type Run,
  spawnAtrium,
} from './run-cli.js';

/** The page that a host serves, and the library that it is made of, are what the compiler made of them. */
export const isBuilt = existsSync(fileURLToPath(new URL('../../dist/main.js', import.meta.url)));

const SHARED_START_MAX_MS = 60_000;
export const DESK_SCRIPT = fileURLToPath(new URL('../fixtures/desk.json', import.meta.url));

/** A data folder that does not exist yet. */
export async function newDataFolder(later: Later = onTestFinished): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-cli-'));
  later(() => rm(folder, { recursive: true, force: true }));
  return path.join(folder, 'data');
}

export interface Desk {
  readonly dataDir: string;
  readonly env: Environment;
  readonly host: ProcessRun;
  /** Runs one command against the host to its end. */
  run(args: readonly string[], input?: string): Promise<Ended>;
  /** Starts one that goes on. */
  start(args: readonly string[]): Run;
  /** Starts one as a process. */
  spawn(args: readonly string[]): ProcessRun;
}

export async function openDesk(hostArgs: readonly string[] = [], later: Later = onTestFinished): Promise<Desk> {
  const dataDir = await newDataFolder(later);
  const env = { ATRIUM_DATA_DIR: dataDir, ATRIUM_SCRIPT: DESK_SCRIPT, NO_COLOR: '1' };
  const host = spawnAtrium(['serve', '--quiet', '--port', '0', ...hostArgs], env, later);
  await host.says(/^READY:\d+$/m);
  const start = (args: readonly string[]) => atrium(args, env);
  const run = (args: readonly string[], input?: string) => endOf(start(args), input);
  return { dataDir, env, host, start, run, spawn: (args) => spawnAtrium(args, env) };
}

/** One host for all tests of a `describe`: to start one for each takes longer than what most of them look at. */
export function sharedDesk(): () => Desk {
  const cleanUps: (() => Promise<void>)[] = [];
  let desk: Desk | undefined;
  beforeAll(async () => {
    desk = await openDesk([], (cleanUp) => void cleanUps.unshift(cleanUp));
  }, SHARED_START_MAX_MS);
  afterAll(async () => {
    for (const cleanUp of cleanUps) await cleanUp();
  });
  return () => {
    if (!desk) throw new Error('the host has not been started');
    return desk;
  };
}

/** A folder beside the data folder of a desk, for one test. */
export async function newFolder({ dataDir }: Desk): Promise<string> {
  return realpath(await mkdtemp(path.join(path.dirname(dataDir), 'work-')));
}
