import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findAgents } from '../src/agents.js';

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** The providers that are offered, their models, and what was logged. */
async function find(env: Readonly<Record<string, string>>) {
  const lines: string[] = [];
  const log = (level: string, message: string, fields?: object) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const agents = await findAgents([], { env, logger: { log } });
  const models = agents.flatMap(({ info }) => info.models.map(({ id }) => id));
  return { providers: agents.map(({ info }) => info.provider), models, lines };
}

describe('the agents that a host offers', () => {
  it('are those that need no model, unless a server is named', async () => {
    expect(await find({ ATRIUM_MODEL: 'm-1' })).toEqual({ providers: ['offline'], models: [], lines: [] });
  });

  it('include a model server, with the models it lists', async () => {
    const asked: unknown[] = [];
    const url = await serve(({ url: path, headers }, response) => {
      asked.push([path, headers.authorization]);
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'm-1' }, {}, null, { id: 'm-2' }] }));
    });
    const found = await find({ ATRIUM_MODEL_URL: `${url}/`, ATRIUM_MODEL_KEY: 'secret' });
    expect(found).toEqual({ providers: ['offline', 'model'], models: ['m-1', 'm-2'], lines: [] });
    expect(asked).toEqual([['/v1/models', 'Bearer secret']]);
  });

  it('include a named model without asking the server for a list', async () => {
    const found = await find({ ATRIUM_MODEL_URL: 'http://127.0.0.1:1/v1', ATRIUM_MODEL: 'mine' });
    expect(found).toEqual({ providers: ['offline', 'model'], models: ['mine'], lines: [] });
  });

  it.each<[string, RequestListener | undefined, string]>([
    ['is not there', undefined, 'ECONNREFUSED'],
    ['refuses', (_request, response) => void response.writeHead(401).end(), '401'],
    ['has no models', (_request, response) => void response.end('{"data":[]}'), 'set ATRIUM_MODEL'],
    ['is something else', (_request, response) => void response.end('<html>'), 'JSON'],
  ])('do without a server that %s, and one line says so', async (_what, listener, reason) => {
    const url = listener ? await serve(listener) : await closedPort();
    const { providers, lines } = await find({ ATRIUM_MODEL_URL: url, ATRIUM_MODEL_KEY: 'secret' });
    expect(providers).toEqual(['offline']);
    expect(lines).toEqual([expect.stringContaining(reason)]);
    expect(lines.join()).not.toContain('secret');
  });

  it('do without a server whose address is none', async () => {
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

it('a script cannot take the name of a built-in agent', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-script-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'script.json');
  await writeFile(file, JSON.stringify({ provider: 'offline', displayName: 'Mine', default: [{ text: 'hi' }] }));
  await expect(findAgents([file], { env: {} })).rejects.toThrow('give it another provider');
});
