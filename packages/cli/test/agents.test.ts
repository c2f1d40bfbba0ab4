import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { modelAgent } from '@atrium/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AgentSources, findAgents, logAgents } from '../src/agents/find-agents.js';

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** A folder of its own, with some files. */
async function folderWith(files: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-agents-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files))
    await writeFile(path.join(folder, name), JSON.stringify(content));
  return folder;
}

/** What a host would offer on a machine without local servers: providers, models, and what was logged aloud. */
async function find(env: Readonly<Record<string, string>>, sources: AgentSources = {}) {
  const folder = await folderWith();
  const userFile = path.join(folder, 'config.json');
  const found = await findAgents({ env, folder, userFile, localServers: [], factories: MODEL_ONLY, ...sources });
  const lines: string[] = [];
  const log = (level: string, message: string, fields?: object) =>
    void (level === 'warn' && lines.push(`${message} ${JSON.stringify(fields)}`));
  logAgents(found, { log });
  const models = found.agents.flatMap(({ info }) => info.models.map(({ id }) => id));
  return { providers: found.agents.map(({ info }) => info.provider), models, lines };
}

const MODEL_ONLY = { model: modelAgent };

describe('a model server that the environment names', () => {
  it('is needed by nobody: the offline agent is there, and the default', async () => {
    expect(await find({ ATRIUM_MODEL: 'm-1' })).toEqual({ providers: ['offline'], models: [], lines: [] });
  });

  it('is offered with the models it lists', async () => {
    const asked: unknown[] = [];
    const url = await serve(({ url: path, headers }, response) => {
      asked.push([path, headers.authorization]);
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'm-1' }, {}, null, { id: 'm-2' }] }));
    });
    const found = await find({ ATRIUM_MODEL_URL: `${url}/`, ATRIUM_MODEL_KEY: 'secret' });
    expect(found).toEqual({ providers: ['model', 'offline'], models: ['m-1', 'm-2'], lines: [] });
    expect(asked).toEqual([['/v1/models', 'Bearer secret']]);
  });

  it('is not asked for a list when its model is named', async () => {
    const found = await find({ ATRIUM_MODEL_URL: 'http://127.0.0.1:1/v1', ATRIUM_MODEL: 'mine' });
    expect(found).toEqual({ providers: ['model', 'offline'], models: ['mine'], lines: [] });
  });

  it.each<[string, RequestListener | undefined, string]>([
    ['is not there', undefined, 'ECONNREFUSED'],
    ['refuses', (_request, response) => void response.writeHead(401).end(), '401'],
    ['has no models', (_request, response) => void response.end('{"data":[]}'), 'set ATRIUM_MODEL'],
    ['is something else', (_request, response) => void response.end('<html>'), 'JSON'],
  ])('is done without when it %s, and one line says so', async (_what, listener, reason) => {
    const url = listener ? await serve(listener) : await closedPort();
    const { providers, lines } = await find({ ATRIUM_MODEL_URL: url, ATRIUM_MODEL_KEY: 'secret' });
    expect(providers).toEqual(['offline']);
    expect(lines).toEqual([expect.stringContaining(reason)]);
    expect(lines.join()).not.toContain('secret');
  });

  it('is done without when its address is none', async () => {
    expect((await find({ ATRIUM_MODEL_URL: 'nonsense' })).lines.length).toBe(1);
  });
});

/** A port that was free a moment ago, with nobody on it. */
async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/v1`;
}

describe('the default agent', () => {
  const KEYS = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b' };
  const LOCAL = { type: 'model', api: 'openai-compatible', baseURL: 'http://127.0.0.1:1/v1', models: ['m'] };
  const script = { provider: 'played', displayName: 'Played', default: [{ text: 'hi' }] };

  async function orderWith(config: object, scripts: readonly object[] = []): Promise<string[]> {
    const folder = await folderWith({ 'config.json': config, ...Object.fromEntries(scripts.entries()) });
    const files = scripts.map((_, index) => path.join(folder, String(index)));
    return (await find(KEYS, { userFile: path.join(folder, 'config.json'), scripts: files })).providers;
  }

  it('is one that has a model, also when its key was merely found', async () => {
    expect((await find(KEYS)).providers).toEqual(['anthropic', 'openai', 'offline']);
  });

  it('is the first of the configuration', async () => {
    expect(await orderWith({ agents: { local: LOCAL } })).toEqual(['local', 'anthropic', 'openai', 'offline']);
  });

  it('is the one that the configuration names', async () => {
    expect(await orderWith({ defaultAgent: 'openai' })).toEqual(['openai', 'anthropic', 'offline']);
  });

  it('is a script that was named on the command line, before everything else', async () => {
    const order = ['played', 'openai', 'local', 'anthropic', 'offline'];
    expect(await orderWith({ defaultAgent: 'openai', agents: { local: LOCAL } }, [script])).toEqual(order);
  });

  it('is a script rather than what is found under its name', async () => {
    expect(await orderWith({}, [{ ...script, provider: 'openai' }])).toEqual(['openai', 'anthropic', 'offline']);
  });

  it('may do without the offline agent, but there is always one', async () => {
    const agents = { offline: { enabled: false } };
    expect(await orderWith({ agents })).toEqual(['anthropic', 'openai']);
    expect(await orderWith({ agents, discovery: { enabled: false } })).toEqual(['offline']);
  });

  it('is told of in the log when it is not there', async () => {
    const folder = await folderWith({ 'config.json': { defaultAgent: 'ghost' } });
    const { lines, providers } = await find({}, { userFile: path.join(folder, 'config.json') });
    expect(providers).toEqual(['offline']);
    expect(lines).toEqual([expect.stringContaining('ghost')]);
  });
});

describe('the atrium.json of the folder', () => {
  const agents = { mine: { type: 'model', api: 'openai-compatible', baseURL: 'http://127.0.0.1:1/v1', models: ['m'] } };

  it('counts when the folder is trusted, and else waits', async () => {
    const folder = await folderWith({ 'atrium.json': { agents } });
    expect(
      (await find({}, { folder, trust: { isTrusted: async () => true, allows: async () => true } })).providers,
    ).toEqual(['mine', 'offline']);
    const { providers, lines } = await find({}, { folder });
    expect(providers).toEqual(['offline']);
    expect(lines).toEqual([expect.stringMatching(/not trusted.*agents\.mine/)]);
  });
});

it('ATRIUM_DISCOVERY=0 leaves only what was named', async () => {
  const env = {
    OPENAI_API_KEY: 'k',
    ATRIUM_MODEL_URL: 'http://127.0.0.1:1/v1',
    ATRIUM_MODEL: 'm',
    ATRIUM_DISCOVERY: '0',
  };
  expect((await find(env)).providers).toEqual(['model', 'offline']);
});

it('a script cannot take the name of a built-in agent', async () => {
  const folder = await folderWith({ script: { provider: 'offline', displayName: 'Mine', default: [{ text: 'hi' }] } });
  await expect(find({}, { scripts: [path.join(folder, 'script')] })).rejects.toThrow('give it another provider');
});
