import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { ErrorCode } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { programFile } from '../../../../test/support/programs.js';
import { loadPty } from '../../src/workspace/terminals/pty.js';
import { startHost } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import {
  catalogue,
  isAlive,
  openTerminal,
  openTerminalFixture,
  PLAIN_SHELL,
  pidIn,
  type,
  until,
  untilText,
} from '../support/terminal-fixture.js';
import type { RawClient } from '../support/test-host.js';

/** A shell with a job in front and one behind, each in a group of its own. */
const JOBS = "set -m; echo shell=$$.; sleep 300 & echo back=$!.; sh -c 'echo front=$$.; sleep 300; :'\r";

async function withJobs(client: RawClient, params: object = {}): Promise<{ uri: string; pids: number[] }> {
  const uri = await openTerminal(client, params);
  type(client, uri, JOBS);
  const state = await untilText(client, uri, /front=\d+\./);
  const pids = ['shell', 'back', 'front'].map((name) => pidIn(state, name));
  expect(pids.every(isAlive)).toBe(true);
  return { uri, pids };
}

describe('the processes of a terminal', () => {
  it('[AHP-061] all end when it is disposed of, whatever group they are in', async () => {
    const { client } = await openTerminalFixture();
    const { uri, pids } = await withJobs(client);
    await client.request('disposeTerminal', { channel: uri });
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('are killed when they do not listen', async () => {
    const { client } = await openTerminalFixture();
    const uri = await openTerminal(client);
    type(client, uri, 'sh -c \'trap "" HUP TERM INT; echo deaf=$$.; while :; do sleep 0.1; done\'\r');
    const pid = pidIn(await untilText(client, uri, /deaf=\d+\./), 'deaf');
    await client.request('disposeTerminal', { channel: uri });
    expect(isAlive(pid)).toBe(false);
  });

  it('end with their shell, when that ends by itself', async () => {
    const { client } = await openTerminalFixture();
    const uri = await openTerminal(client);
    type(client, uri, `sh -c 'trap "" HUP; echo left=$$.; sleep 300; :' & sleep 0.3; exit\r`);
    const state = await until(client, uri, ({ exitCode }) => exitCode !== undefined);
    await expect.poll(() => isAlive(pidIn(state, 'left')), { timeout: 4_000 }).toBe(false);
  });

  it('end when the host stops', async () => {
    const { host, client } = await openTerminalFixture();
    const { pids } = await withJobs(client);
    await host.stop();
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('[AHP-168] end with the session that owns them, and those of others do not', async () => {
    const { client } = await openTerminalFixture();
    const session = await client.session();
    const own = await withJobs(client, { claim: { kind: 'session', session } });
    const other = await openTerminal(client);
    await client.request('disposeSession', { channel: session });
    await expect.poll(() => own.pids.filter(isAlive)).toEqual([]);
    await expect.poll(() => catalogue(client)).toMatchObject([{ resource: other }]);
  });

  it('are not begun for a session that has gone meanwhile', async () => {
    const load = async () => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return loadPty();
    };
    const { host, client } = await openTerminalFixture({ terminals: { ...PLAIN_SHELL, load } });
    const phone = await host.client('phone');
    const session = await phone.session();
    const claim = { kind: 'session', session };
    const opening = client.ask('createTerminal', { channel: 'ahp-terminal:/late', claim });
    await phone.request('disposeSession', { channel: session });
    expect((await opening).error?.code).toBe(ErrorCode.SessionNotFound);
    expect(await catalogue(client)).toEqual([]);
  });

  it('are forgotten by the next run of the host', async () => {
    const log = new MemoryLog();
    const first = await startHost({ log });
    const client = await first.client('desk');
    await openTerminal(client);
    await expect.poll(() => catalogue(client)).toHaveLength(1);
    // A host that is killed writes nothing any more.
    const entries = await log.read({ after: 0 });
    expect(JSON.stringify(entries)).toContain('root/terminalsChanged');
    const second = await startHost({ log: await copyOf(log) });
    expect(await catalogue(await second.client('desk'))).toEqual([]);
  });

  it.skipIf(process.platform !== 'linux')('do not get hold of the terminals of others', async () => {
    const { client } = await openTerminalFixture();
    await openTerminal(client);
    const uri = await openTerminal(client);
    type(client, uri, 'echo shell=$$.\r');
    const pid = pidIn(await untilText(client, uri, /shell=\d+\./), 'shell');
    const files = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    expect(files.filter((file) => file.includes('ptmx'))).toEqual([]);
  });

  it('hang up when the host is killed', { timeout: 30_000 }, async () => {
    const folder = await tempFolder();
    const program = `
      import { createHost, MemoryLog, scriptedAgent, transportPair } from '${pathToFileURL(programFile('host')).href}';
      const agent = scriptedAgent({ provider: 'mock', displayName: 'Mock', models: [], prompts: {}, default: [] });
      const host = await createHost({ log: new MemoryLog(), agents: [agent], terminals: { shell: '/bin/bash' } });
      const [server, client] = transportPair();
      client.onmessage = (text) => console.log(text);
      client.onclose = () => {};
      host.connect(server);
      const channel = 'ahp-terminal:/t';
      const send = (message) => client.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
      const root = { channel: 'ahp-root://', protocolVersions: ['0.3.0'], clientId: 'desk' };
      send({ id: 1, method: 'initialize', params: root });
      send({ id: 2, method: 'createTerminal', params: { channel, claim: { kind: 'client', clientId: 'desk' } } });
      send({ id: 3, method: 'subscribe', params: { channel } });
      const action = { type: 'terminal/input', data: process.argv[1] };
      send({ method: 'dispatchAction', params: { channel, clientSeq: 1, action } });
      setInterval(() => {}, 1_000);`;
    const options = ['--input-type=module', '--eval', program, JOBS];
    const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
    const host = spawn(process.execPath, options, {
      stdio,
      cwd: import.meta.dirname,
      env: { ...process.env, HOME: folder, TMPDIR: folder },
    });
    let text = '';
    // Read on to its end: a host that nobody reads from any more would fail, and end by itself.
    host.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    await expect.poll(() => text, { timeout: 20_000 }).toMatch(/front=\d+\./);
    const pids = ['shell', 'back', 'front'].map((name) => Number(new RegExp(`${name}=(\\d+)\\.`).exec(text)?.[1]));
    expect(pids.every(isAlive)).toBe(true);
    host.kill('SIGKILL');
    await once(host, 'exit');
    await expect.poll(() => pids.filter(isAlive), { timeout: 5_000 }).toEqual([]);
  });
});

/** The same entries and archives in another log, as a killed host would have left them. */
async function copyOf(log: MemoryLog): Promise<MemoryLog> {
  const copy = new MemoryLog();
  const entries = await log.read({ after: 0 });
  await copy.append({ entries, records: [], archives: [], durability: 'full' });
  return copy;
}
