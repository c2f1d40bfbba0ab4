/**
 * Our host beside the host of the GitHub Copilot CLI: what both answer without an account is compared, so that a client
 * written for one finds its way in the other.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { isBuilt, startHost } from './support/host.js';

const INSTALLED = fileURLToPath(new URL('../../../node_modules/.bin/copilot', import.meta.url));
const PROGRAM = process.env.ATRIUM_COPILOT ?? INSTALLED;
const isHere = existsSync(PROGRAM) && isBuilt;
const ROOT = 'ahp-root://';
const HELLO = { channel: ROOT, clientId: 'compare' };

interface Answer {
  readonly result?: Record<string, unknown> | null;
  readonly error?: { readonly code: number; readonly data?: Record<string, unknown> };
}

type Ask = (method: string, params?: object) => Promise<Answer>;

/** The address of its host, which prints it with a token. */
async function theirs(): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'atrium-copilot-host-'));
  const env = { COPILOT_CLI_ENABLED_FEATURE_FLAGS: 'AHP_CLIENT', COPILOT_AUTO_UPDATE: 'false', HOME: home };
  const host = spawn(PROGRAM, ['--ahp-host', '--listen', '127.0.0.1:0'], {
    cwd: home,
    env: { ...process.env, ...env, XDG_CACHE_HOME: path.join(home, 'cache') },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  onTestFinished(async () => {
    if (host.pid !== undefined) process.kill(-host.pid, 'SIGKILL');
    await rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  });
  let said = '';
  for (const stream of [host.stdout, host.stderr]) stream.on('data', (text) => (said += text));
  await expect.poll(() => said, { timeout: 60_000, interval: 100 }).toMatch(/ws:\/\/\S+/);
  return /ws:\/\/\S+/.exec(said)?.[0] ?? '';
}

async function ours(): Promise<string> {
  const host = await startHost();
  const [, port] = /^READY:(\d+)$/m.exec(host.serve.said.stdout) ?? [];
  const token = (await readFile(path.join(host.dataDir, 'connection-token'), 'utf8')).trim();
  return `ws://127.0.0.1:${port}?tkn=${token}`;
}

async function connected(url: string): Promise<Ask> {
  const socket = new WebSocket(url);
  onTestFinished(() => socket.terminate());
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  let ids = 0;
  return (method, params = {}) =>
    new Promise((resolve) => {
      const id = ++ids;
      socket.on('message', (data) => {
        const message = JSON.parse(String(data));
        if (message.id === id && message.method === undefined) resolve(message);
      });
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params: { channel: ROOT, ...params } }));
    });
}

const WORDS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'enumLabels',
  'enumDescriptions',
  'sessionMutable',
]);

/** What a schema says, without the words that are for people; absent and false are the same for `sessionMutable`. */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.entries(schema).filter(([key]) => !WORDS.has(key));
  return Object.fromEntries(members.map(([key, value]) => [key, plain(value)]));
}

describe.skipIf(!isHere)(
  'the host of the GitHub Copilot CLI (skipped unless it is installed: npm run test:clients)',
  { timeout: 180_000 },
  () => {
    it('[UP-008] [UP-010] [UP-011] [UP-061] [UP-231] answers handshake, errors and the configuration of a session as ours does', async () => {
      const urls = [await theirs(), await ours()];
      const both = async (probe: (ask: Ask) => Promise<unknown>) => {
        const [their, our] = await Promise.all(urls.map(async (url) => probe(await connected(url))));
        return { their, our };
      };
      const same = async (probe: (ask: Ask) => Promise<unknown>) => {
        const { their, our } = await both(probe);
        expect(our).toEqual(their);
        return our;
      };
      const agreed = (...protocolVersions: string[]) =>
        same(async (ask) => (await ask('initialize', { ...HELLO, protocolVersions })).result?.protocolVersion);
      expect(await agreed('0.9.0', '1.0.0')).toBe('1.0.0');
      expect(await agreed('1.1.0', '0.9.0')).toBe('1.1.0');
      expect(await agreed('2.0.0', '1.5.3', '0.9.7')).toBe('1.5.3');
      expect(await agreed('0.9.4', '0.7.0')).toBe('0.9.4');

      const code = (...protocolVersions: string[]) =>
        same(async (ask) => (await ask('initialize', { ...HELLO, protocolVersions })).error?.code);
      expect(await code('7.0.0')).toBe(-32005);
      expect(await code('x')).toBe(-32602);
      const offered = await both(
        async (ask) =>
          (await ask('initialize', { ...HELLO, protocolVersions: ['7.0.0'] })).error?.data?.supportedVersions,
      );
      expect(offered.our).toEqual(expect.arrayContaining(offered.their as string[]));

      const greeted = async (ask: Ask) => {
        await ask('initialize', { ...HELLO, protocolVersions: ['1.0.0'] });
        return ask;
      };
      expect(await same(async (ask) => (await (await greeted(ask))('ping')).result)).toBeNull();
      expect(await same(async (ask) => (await (await greeted(ask))('listSessions')).result)).toEqual({ items: [] });
      const { their, our } = await both(async (ask) => (await (await greeted(ask))('resolveSessionConfig')).result);
      const shape = { schema: { type: 'object', properties: expect.any(Object) }, values: expect.any(Object) };
      expect(their).toMatchObject(shape);
      expect(our).toMatchObject(shape);
      const sections = (result: unknown) =>
        plain((result as { schema: { properties: Record<string, unknown> } }).schema.properties.systemMessageSections);
      expect(sections(our)).toEqual(sections(their));
    });
  },
);
