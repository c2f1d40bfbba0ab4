/** The real command as a process that can be killed and started again on the same port, with the same token. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Script, userConfigFile } from '@atrium/host';
import { onTestFinished } from 'vitest';
import { programFile } from '../../../../test/support/programs.js';
import { lastingPort } from './ports.js';

const TOKEN = 'the-token-of-the-tests-0123456789';

export interface MortalHost {
  readonly link: string;
  /** Where its sessions work. */
  readonly folder: string;
  /** What it stores. */
  readonly database: string;
  kill(): Promise<void>;
  /** Ends it in good order. */
  stop(): Promise<void>;
  /** With the same token, unless another is given. */
  startAgain(token?: string): Promise<void>;
}

interface Options {
  /** Further options of the command. */
  readonly more?: readonly string[];
  /** The configuration of its user. */
  readonly config?: object;
}

export async function startMortalHost(script: Script, { more = [], config }: Options = {}): Promise<MortalHost> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-web-'));
  const files = { more, script: path.join(folder, 'script.json'), token: path.join(folder, 'token') };
  await writeFile(files.script, JSON.stringify(script));
  await writeFile(files.token, TOKEN);
  if (config) await writeConfig(folder, config);
  const port = String(lastingPort());
  let child = start(folder, files, port);
  onTestFinished(async () => {
    await ended(child);
    await rm(folder, { recursive: true, force: true });
  });
  await ready(child);
  return {
    folder,
    database: path.join(folder, 'data', 'atrium.db'),
    link: `http://localhost:${port}/#token=${TOKEN}`,
    kill: () => ended(child),
    stop: () => ended(child, 'SIGTERM'),
    async startAgain(token = TOKEN) {
      await writeFile(files.token, token);
      child = start(folder, files, port);
      await ready(child);
    },
  };
}

async function writeConfig(home: string, config: object): Promise<void> {
  const file = userConfigFile({ platform: process.platform, env: {}, home });
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(config));
}

interface Setup {
  readonly script: string;
  readonly token: string;
  /** Further options of the command. */
  readonly more: readonly string[];
}

function start(folder: string, files: Setup, port: string): ChildProcess {
  const { PATH = '', SystemRoot = '' } = process.env;
  const env = { PATH, SystemRoot, HOME: folder, USERPROFILE: folder, ATRIUM_DISCOVERY: '0', ATRIUM_GATEWAY_PORT: '0' };
  const places = ['--data-dir', path.join(folder, 'data'), '--connection-token-file', files.token];
  const args = ['serve', '--quiet', '--port', port, ...places, '--script', files.script, ...files.more];
  return spawn(process.execPath, [programFile('atrium'), ...args], { env, cwd: folder });
}

async function ready({ stdout }: ChildProcess): Promise<string> {
  const [chunk] = await once(stdout ?? process.stdin, 'data');
  return /READY:(\d+)/.exec(String(chunk))?.[1] ?? '';
}

async function ended(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
