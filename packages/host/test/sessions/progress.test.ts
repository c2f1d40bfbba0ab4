/** What a client that asks for it learns about the creation of a session. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROGRESS_TOKEN_MAX_CHARACTERS } from '@atrium/core/sessions/creation-progress.js';
import { describe, expect, it } from 'vitest';
import { MCP_PROGRAM, openCustomFixture } from '../support/custom-fixture.js';
import { nativeClient } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { startHost } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import type { RawClient } from '../support/test-host.js';

interface Update {
  readonly progressToken: string;
  readonly progress: number;
  readonly total: number;
  readonly message: string;
}

const updatesOf = ({ received }: RawClient) =>
  received.flatMap(({ method, params }) => (method === 'root/progress' ? [params as unknown as Update] : []));

const isLast = ({ progress, total }: Update) => progress === total;

async function untilLast(client: RawClient): Promise<readonly Update[]> {
  const isEnd = ({ method, params }: { method?: string; params?: object }) =>
    method === 'root/progress' && isLast(params as Update);
  await client.until(isEnd, 20_000);
  return updatesOf(client);
}

function expectSteady(updates: readonly Update[]): void {
  const numbers = updates.map(({ progress }) => progress);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  expect(new Set(updates.map(({ total }) => total)).size).toBe(1);
  expect(updates.filter(isLast)).toHaveLength(1);
  expect(updates.at(-1)?.progress).toBe(updates.at(-1)?.total);
}

const create = (client: RawClient, more: object = {}) =>
  client.ask('createSession', { channel: `ahp-session:/${crypto.randomUUID()}`, progressToken: 'p1', ...more });

describe('progress of a creation', { timeout: 30_000 }, () => {
  it('[UP-054] goes to the client that sent the token, up to the end, and to nobody else', async () => {
    const host = await startHost({ agents: [new PuppetAgent()] });
    const [client, other] = [await nativeClient(host, 'desk'), await nativeClient(host, 'phone')];
    await create(client, { provider: 'puppet' });
    const updates = await untilLast(client);
    expectSteady(updates);
    expect(updates.every(({ progressToken }) => progressToken === 'p1')).toBe(true);
    expect(updates.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['Preparing the folder', 'Opening Puppet', 'Ready']),
    );
    await create(client, { provider: 'puppet', progressToken: undefined });
    await client.request('ping', { channel: 'ahp-root://' });
    expect(updatesOf(client)).toHaveLength(updates.length);
    expect(updatesOf(other)).toEqual([]);
  });

  it('[UP-054] waits with the end for a slow agent, and ends when it fails', async () => {
    const agent = new PuppetAgent();
    let fail = (_error: Error) => {};
    agent.opening = new Promise((_, reject) => {
      fail = reject;
    });
    const host = await startHost({ agents: [agent] });
    const client = await nativeClient(host, 'desk');
    await create(client, { provider: 'puppet' });
    await expect.poll(() => updatesOf(client).at(-1)?.message).toBe('Opening Puppet');
    expect(updatesOf(client).some(isLast)).toBe(false);
    fail(new Error('no'));
    const updates = await untilLast(client);
    expectSteady(updates);
    expect(updates.at(-1)?.message).toContain('could not be created');
  });

  it('[UP-054] tells of a worktree that is made', async () => {
    const folder = await tempFolder({ 'a.txt': 'a' });
    const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args]);
    git('init', '-q', '-b', 'main');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x');
    const host = await startHost({ agents: [new PuppetAgent()], dataFolder: path.join(await tempFolder(), 'data') });
    const client = await nativeClient(host, 'desk');
    const workingDirectories = [pathToFileURL(folder).href];
    await create(client, { provider: 'puppet', workingDirectories, config: { isolation: 'worktree' } });
    const updates = await untilLast(client);
    expectSteady(updates);
    expect(updates.some(({ message }) => message.startsWith('Making a worktree of'))).toBe(true);
  });

  it('[UP-054] counts MCP servers that start', async () => {
    const server = { command: process.execPath, args: [MCP_PROGRAM, 'good', ''] };
    const fixture = await openCustomFixture({ config: { mcpServers: { one: server, two: server } } });
    const client = await fixture.connect('new', undefined, { protocolVersions: ['0.5.0'] });
    await create(client, { provider: 'puppet', workingDirectory: pathToFileURL(fixture.folder).href });
    const updates = await untilLast(client);
    expectSteady(updates);
    expect(updates.map(({ message }) => message)).toContain('2 of 2 MCP servers have started');
  });

  it('[UP-054] is not for tokens that are too long, and not told to clients of 0.3.0', async () => {
    const host = await startHost({ agents: [new PuppetAgent()] });
    const client = await nativeClient(host, 'desk');
    const long = await create(client, { progressToken: 'x'.repeat(PROGRESS_TOKEN_MAX_CHARACTERS + 1) });
    expect(long.error?.code).toBe(-32602);
    expect((await create(client, { progressToken: 'x'.repeat(PROGRESS_TOKEN_MAX_CHARACTERS) })).error).toBeUndefined();
    const older = await host.client('older');
    await older.session(undefined, { provider: 'puppet', progressToken: 'p' });
    expect(updatesOf(older)).toEqual([]);
  });
});
