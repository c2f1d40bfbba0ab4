import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { connect } from '@atrium/client';
import { announceInstance, declaredPrograms } from '@atrium/host';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { findHost } from '../src/service/running-host.js';
import { LOOK_EVERY_MS } from '../src/service/start-host.js';
import { namedFolders, trustedFolders } from '../src/trusted-folders.js';
import { isBuilt, newDataFolder } from './support/host.js';
import { atrium, spawnAtrium } from './support/run-cli.js';

const NO_PORT = ['--port', '0'];
/** A process that was just started has become a host by then, if it ever does. */
const LATE_START_MS = 2_000;
/** A provider that keeps the end of its session waiting for as long as it may. */
const MUTE = `
const WebSocket = require(process.argv[1]);
const socket = new WebSocket(process.env.TAP_GATEWAY_URL);
const send = (message) => socket.send(JSON.stringify(message));
socket.onopen = () => send({ type: 'auth', token: process.env.TAP_PROVIDER_TOKEN });
socket.onmessage = ({ data }) => {
  const tools = [{ name: 'mute', description: 'Says nothing.', parameters: {} }];
  if (JSON.parse(data).type === 'sessions') send({ type: 'hello', name: 'mute', protocolVersion: 2, tools });
};
`;
const SOCKETS = createRequire(import.meta.url).resolve('ws');
const GREETER = fileURLToPath(new URL('../../../examples/providers/minimal-node.mjs', import.meta.url));

async function json(args: readonly string[]): Promise<{ code: number | null; value: Record<string, unknown> }> {
  const { said, ended } = atrium(args);
  const code = await ended();
  return { code, value: said.stdout === '' ? { stderr: said.stderr } : JSON.parse(said.stdout) };
}

async function stopAfterwards(dataDir: string): Promise<void> {
  onTestFinished(async () => {
    await atrium(['service', 'stop', '--data-dir', dataDir]).ended();
  });
}

describe.skipIf(!isBuilt)('the host in the background (skipped unless it has been built)', { timeout: 60_000 }, () => {
  it('[GW-009] [GW-010] is one per data folder, however many start it at once', async () => {
    const dataDir = await newDataFolder();
    await stopAfterwards(dataDir);
    const launchers = Array.from({ length: 4 }, () => atrium(['serve', '--detach', '--data-dir', dataDir, ...NO_PORT]));
    const codes = await Promise.all(launchers.map(({ ended }) => ended()));
    expect(codes).toEqual([0, 0, 0, 0]);
    const urls = launchers.map(({ said }) => /ws:\/\/localhost:\d+ \(process \d+\)/.exec(said.stdout)?.[0]);
    expect(new Set(urls).size).toBe(1);
    expect(urls[0]).toBeDefined();
    await atrium(['service', 'stop', '--data-dir', dataDir]).ended();
    // Nobody who came too late takes the place of the one that was stopped.
    await new Promise((resolve) => setTimeout(resolve, LATE_START_MS));
    expect((await json(['service', 'status', '--json', '--data-dir', dataDir])).value).toEqual({ isRunning: false });
  });

  it('[GW-008] [GW-013] outlives the client that started it; the providers of others go on', async () => {
    const [dataDir, folder] = [await newDataFolder(), await newDataFolder()];
    await stopAfterwards(dataDir);
    await mkdir(folder);
    const script = path.join(folder, 'script.json');
    const greet = [{ callTool: { name: 'greet', input: { name: 'tester' } } }, { text: '${lastResult}' }];
    const prompts = { greet, wait: [{ delayMs: 600_000 }] };
    await writeFile(script, JSON.stringify({ provider: 'mock', displayName: 'Mock', prompts }));
    const providers = { greeter: { command: process.execPath, args: [GREETER] } };
    await writeFile(path.join(folder, 'atrium.json'), JSON.stringify({ providers }));
    await atrium(['trust', folder, '--data-dir', dataDir]).ended();
    // The first client starts the host for its own turn, which goes on and on.
    const first = spawnAtrium(['run', 'wait', '--data-dir', dataDir], { ATRIUM_SCRIPT: script });
    await expect.poll(() => findHost(dataDir), { timeout: 20_000 }).toBeDefined();
    const { instance, token } = (await findHost(dataDir)) ?? {};
    const client = await connect({ url: instance?.url ?? '', ...(token && { token }), clientId: 'test-client' });
    onTestFinished(() => client.close());
    const { session, chat } = await client.open(
      await client.createSession({ workingDirectories: [pathToFileURL(folder).href] }),
    );
    await expect.poll(() => session.state.serverTools?.map(({ name }) => name), { timeout: 10_000 }).toContain('greet');
    first.child.kill('SIGKILL');
    expect(await first.ended()).toBeNull();
    const message = { text: 'greet', origin: { kind: 'user' as const } };
    await chat.dispatch({ type: 'chat/turnStarted', turnId: 't', message });
    await expect.poll(() => JSON.stringify(chat.state.turns), { timeout: 10_000 }).toContain('Hello, tester!');
    expect((await findHost(dataDir))?.instance.pid).toBe(instance?.pid);
  });

  it('outlives the command that started it, says where it is, and stops', async () => {
    const dataDir = await newDataFolder();
    await stopAfterwards(dataDir);
    const before = await json(['service', 'status', '--json', '--data-dir', dataDir]);
    expect(before).toEqual({ code: 1, value: { isRunning: false } });
    await spawnAtrium(['serve', '--detach', '--data-dir', dataDir, '--log-level', 'error', ...NO_PORT]).ended();
    expect(await readFile(path.join(dataDir, 'host.log'), 'utf8')).not.toContain('listening');
    const { code, value } = await json(['service', 'status', '--json', '--data-dir', dataDir]);
    expect([code, value.isRunning]).toEqual([0, true]);
    expect(await json(['service', 'stop', '--json', '--data-dir', dataDir])).toMatchObject({
      code: 0,
      value: { wasRunning: true, pid: value.pid },
    });
    expect(await json(['service', 'stop', '--json', '--data-dir', dataDir])).toMatchObject({
      code: 0,
      value: { wasRunning: false },
    });
  });

  it('[GW-011] ends by itself when nobody has needed it for a while', async () => {
    const dataDir = await newDataFolder();
    const host = spawnAtrium(['serve', '--exit-when-idle', '0.3', '--data-dir', dataDir, ...NO_PORT]);
    expect(await host.ended()).toBe(0);
    expect(host.said.stderr).toContain('it is no longer needed');
  });

  it('[GW-011] ends by itself also when only providers are there that it has started itself', async () => {
    const [dataDir, folder] = [await newDataFolder(), await newDataFolder()];
    const providers = { greeter: { command: process.execPath, args: [GREETER] } };
    await mkdir(folder);
    await writeFile(path.join(folder, 'atrium.json'), JSON.stringify({ providers }));
    const options = ['--exit-when-idle', '1', '--trust', folder, '--without-connection-token', ...NO_PORT];
    const host = atrium(['serve', '--quiet', '--log-level', 'info', '--data-dir', dataDir, ...options]);
    const [, port] = await host.says(/^READY:(\d+)/);
    const client = await connect({ url: `ws://localhost:${port}`, clientId: 'test-client' });
    const uri = await client.createSession({ workingDirectories: [pathToFileURL(folder).href] });
    const session = await client.subscribe(uri);
    await expect.poll(() => session.state.serverTools?.map(({ name }) => name), { timeout: 10_000 }).toContain('greet');
    client.close();
    expect(await host.ended()).toBe(0);
    expect(host.said.stderr).toContain('it is no longer needed');
  });

  it('[GW-011] is replaced for a client that comes while it is about to end', async () => {
    const [dataDir, folder] = [await newDataFolder(), await newDataFolder()];
    await stopAfterwards(dataDir);
    await mkdir(folder);
    const provider = { command: process.execPath, args: ['-e', MUTE, SOCKETS] };
    await writeFile(path.join(folder, 'atrium.json'), JSON.stringify({ providers: { mute: provider } }));
    const options = ['--exit-when-idle', '1', '--trust', folder, '--without-connection-token', ...NO_PORT];
    const host = spawnAtrium(['serve', '--quiet', '--log-level', 'info', '--data-dir', dataDir, ...options]);
    const [, port] = await host.says(/^READY:(\d+)/);
    const client = await connect({ url: `ws://localhost:${port}`, clientId: 'test-client' });
    const session = await client.subscribe(
      await client.createSession({ workingDirectories: [pathToFileURL(folder).href] }),
    );
    await expect.poll(() => session.state.serverTools?.map(({ name }) => name), { timeout: 10_000 }).toContain('mute');
    client.close();
    await expect.poll(() => host.said.stderr, { timeout: 10_000 }).toContain('it is no longer needed');
    // It listens no longer, and has the folder for ten seconds more.
    const late = atrium(['sessions', 'list', '--json', '--data-dir', dataDir]);
    expect([await late.ended(), late.said.stderr]).toEqual([0, expect.not.stringContaining('error')]);
    expect(JSON.stringify(JSON.parse(late.said.stdout))).toContain(session.uri);
    expect(await host.ended()).toBe(0);
    const { value } = await json(['service', 'status', '--json', '--data-dir', dataDir]);
    expect(value).toMatchObject({ isRunning: true });
    expect(value.pid).not.toBe(host.pid);
  });

  it('[GW-011] is replaced for a client that has found it and whose connection it closes', async () => {
    const dataDir = await newDataFolder();
    await stopAfterwards(dataDir);
    // A host in its last moment: it listens, and is gone when the client really comes.
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const facts = { pid: process.pid, host: '127.0.0.1', port, url: `ws://127.0.0.1:${port}` };
    const retract = await announceInstance(dataDir, { ...facts, startedAt: new Date().toISOString() });
    let turnedAway = 0;
    server.on('upgrade', (_request, socket) => {
      turnedAway += 1;
      server.close();
      void retract().then(() => socket.destroy());
    });
    const late = atrium(['sessions', 'list', '--json', '--data-dir', dataDir]);
    expect([await late.ended(), late.said.stdout.trim()]).toEqual([0, '[]']);
    expect(turnedAway).toBe(1);
  });

  it('is not waited for when it has failed: why is told at once', async () => {
    const dataDir = await newDataFolder();
    const timers = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => timers.mockRestore());
    const { said, ended } = atrium(['sessions', 'list'], { ATRIUM_DATA_DIR: dataDir, ATRIUM_SCRIPT: '/nowhere.json' });
    await expect.poll(() => readFile(path.join(dataDir, 'host.log'), 'utf8').catch(() => '')).toContain('nowhere.json');
    timers.mockClear();
    expect(await ended()).toBe(1);
    expect(said.stderr).toMatch(/the host did not start:[\s\S]*nowhere\.json/);
    // The winner of a race is looked for a hundred times.
    expect(timers.mock.calls.filter(([, ms]) => ms === LOOK_EVERY_MS).length).toBeLessThan(50);
  });

  it('[GW-223] is started anew after it was killed', async () => {
    const dataDir = await newDataFolder();
    await stopAfterwards(dataDir);
    const args = ['serve', '--detach', '--data-dir', dataDir, ...NO_PORT];
    await atrium(args).ended();
    const { value } = await json(['service', 'status', '--json', '--data-dir', dataDir]);
    process.kill(Number(value.pid), 'SIGKILL');
    await expect.poll(() => findHost(dataDir)).toBeUndefined();
    expect(await atrium(args).ended()).toBe(0);
    const again = await json(['service', 'status', '--json', '--data-dir', dataDir]);
    expect(again.value.isRunning).toBe(true);
    expect(again.value.pid).not.toBe(value.pid);
  });
});

describe.skipIf(!isBuilt)('atrium trust (skipped unless it has been built)', { timeout: 60_000 }, () => {
  it('remembers a folder until it is taken back', async () => {
    const dataDir = await newDataFolder();
    const list = async () => (await json(['trust', '--list', '--json', '--data-dir', dataDir])).value;
    expect(await list()).toEqual([]);
    expect(await atrium(['trust', process.cwd(), '--data-dir', dataDir]).ended()).toBe(0);
    expect(await list()).toEqual([process.cwd()]);
    expect(await atrium(['trust', '--remove', process.cwd(), '--data-dir', dataDir]).ended()).toBe(0);
    expect(await list()).toEqual([]);
  });

  it('[REL-053] shows every program that it trusts, and trusts no other that comes later', async () => {
    const [dataDir, folder] = [await newDataFolder(), await newDataFolder()];
    await mkdir(folder);
    const providers = { ci: { command: 'node', args: ['ci.js', 'a\u202eb\n'], env: { KEY: 'secret' } } };
    await writeFile(path.join(folder, 'atrium.json'), JSON.stringify({ providers }));
    const { said, ended } = atrium(['trust', folder, '--data-dir', dataDir]);
    expect(await ended()).toBe(0);
    const shown = '    provider ci: node ci.js "a\\u{202e}b\\n" (sets KEY)';
    expect(said.stdout).toBe(`${folder}\nIt may start 1 program:\n${shown}\n${folder} is trusted.\n`);
    const trusted = trustedFolders(dataDir);
    const allowed = async () => {
      const { programs } = await declaredPrograms(folder);
      return Promise.all(programs.map(({ digest }) => trusted.allows(folder, digest)));
    };
    expect(await allowed()).toEqual([true]);
    const changed = { ci: { ...providers.ci, env: { KEY: 'another' } }, new: { command: 'evil' } };
    await writeFile(path.join(folder, 'atrium.json'), JSON.stringify({ providers: changed }));
    expect(await allowed()).toEqual([false, false]);
  });

  it('[REL-053] says how many providers it does not show, because the host does not start them', async () => {
    const [dataDir, folder] = [await newDataFolder(), await newDataFolder()];
    await mkdir(folder);
    const names = Array.from({ length: 22 }, (_, index) => `p${index}`);
    const providers = Object.fromEntries(names.map((name) => [name, { command: name }]));
    await writeFile(path.join(folder, 'atrium.json'), JSON.stringify({ providers }));
    const { said, ended } = atrium(['trust', folder, '--data-dir', dataDir]);
    expect(await ended()).toBe(0);
    const shown = names.slice(0, 20).map((name) => `    provider ${name}: ${name}`);
    const left = 'It lists 2 more providers, beyond what the host starts for one folder. They do not run: list fewer.';
    expect(said.stdout.split('\n')).toEqual([
      folder,
      'It may start 20 programs:',
      ...shown,
      left,
      `${folder} is trusted.`,
      '',
    ]);
    const logged: unknown[] = [];
    await namedFolders([folder], { log: (level, _, fields) => void logged.push([level, fields?.left]) });
    expect(logged.filter((entry) => String(entry).startsWith('warn'))).toEqual([['warn', 2]]);
  });

  it('[REL-053] [REL-055] means the same as serve --trust: what is declared at the start, told in the log', async () => {
    const folder = await newDataFolder();
    await mkdir(folder);
    const declare = (args: readonly string[]) =>
      writeFile(path.join(folder, 'atrium.json'), JSON.stringify({ mcpServers: { db: { command: 'db', args } } }));
    await declare(['--a']);
    const logged: unknown[] = [];
    const named = await namedFolders([folder], { log: (_, message, fields) => void logged.push([message, fields]) });
    expect(logged).toEqual([['a trusted folder may start', { folder, program: 'MCP server db: db --a' }]]);
    const trusted = trustedFolders(await newDataFolder(), named);
    const allowed = async () => trusted.allows(folder, (await declaredPrograms(folder)).programs[0]?.digest ?? '');
    expect(await allowed()).toBe(true);
    await declare(['--b']);
    expect(await allowed()).toBe(false);
  });

  it('forgets a folder also when it is not there any more', async () => {
    const [dataDir, folder] = [await newDataFolder(), await newDataFolder()];
    await mkdir(folder);
    expect(await atrium(['trust', folder, '--data-dir', dataDir]).ended()).toBe(0);
    await rm(folder, { recursive: true });
    const { said, ended } = atrium(['trust', '--remove', path.relative('.', folder), '--data-dir', dataDir]);
    expect([await ended(), said.stdout]).toEqual([0, `${folder} is trusted no longer.\n`]);
    const again = atrium(['trust', folder, '--data-dir', dataDir]);
    expect([await again.ended(), again.said.stderr]).toEqual([1, `error: there is no folder ${folder}\n`]);
  });

  it('says what is missing', async () => {
    const dataDir = await newDataFolder();
    const { said, ended } = atrium(['trust', '--data-dir', dataDir]);
    expect(await ended()).toBe(2);
    expect(said.stderr).toContain('name a folder');
  });
});
