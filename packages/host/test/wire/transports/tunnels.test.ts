/** Ways into the host under a public origin, open for a time. */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { TUNNELS_MAX, TunnelError, Tunnels } from '../../../src/server/tunnels.js';
import { client, startEcho, statusOf, TOKEN } from './support.js';

const ORIGIN = 'https://blue-sky.example.net';
const NAME = 'blue-sky.example.net';

/** As a tunnel passes a request on. */
function through(name: string, more: Record<string, string> = {}) {
  return { Host: name, 'X-Forwarded-For': '198.51.100.7', 'X-Forwarded-Proto': 'https', ...more };
}

function pageStatus(port: number, headers: Record<string, string>): Promise<{ status?: number; hsts: boolean }> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, headers, agent: false }, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, hsts: 'strict-transport-security' in response.headers });
    });
    asked.once('error', reject).end();
  });
}

const upgrade = (port: number, headers: Record<string, string>, query?: string) =>
  statusOf(client(port, { headers, ...(query !== undefined && { query }) }));

describe('a way into the host', () => {
  it('[DEV-053] makes exactly one origin and name the host’s own, while it is open', async () => {
    const tunnels = new Tunnels();
    const { port } = await startEcho({ tunnels });
    expect(await pageStatus(port, through(NAME))).toMatchObject({ status: 403 });
    const close = tunnels.open(ORIGIN);
    expect(tunnels.origins).toEqual([ORIGIN]);
    expect(await pageStatus(port, through(NAME))).toEqual({ status: 200, hsts: true });
    expect(await upgrade(port, through(NAME, { Origin: ORIGIN }))).toBe(101);
    for (const origin of [`http://${NAME}`, `${ORIGIN}:8443`, 'https://evil.example.net', 'null'])
      expect(await upgrade(port, through(NAME, { Origin: origin })), origin).toBe(403);
    for (const name of [`sub.${NAME}`, `${NAME}:${port}`, `${NAME}.`, 'example.net', `${NAME},localhost`])
      expect((await pageStatus(port, through(name))).status, name).toBe(403);
    close();
    expect(tunnels.origins).toEqual([]);
    expect((await pageStatus(port, through(NAME))).status).toBe(403);
    expect(await upgrade(port, through(NAME, { Origin: ORIGIN }))).toBe(403);
  });

  it('[DEV-053] knows a tunnel that puts its own name beside the Host header, and one with a port of its own', async () => {
    const tunnels = new Tunnels();
    const { port } = await startEcho({ tunnels });
    tunnels.open(ORIGIN);
    tunnels.open('http://localhost:40001');
    const beside = { Host: `localhost:${port}`, 'X-Forwarded-Host': NAME, 'X-Forwarded-For': '198.51.100.7' };
    expect(await upgrade(port, { ...beside, Origin: ORIGIN })).toBe(101);
    expect(await upgrade(port, { ...beside, 'X-Forwarded-Host': 'evil.example', Origin: ORIGIN })).toBe(403);
    expect(await upgrade(port, { Host: 'localhost:40001', Origin: 'http://localhost:40001' })).toBe(101);
    expect(await upgrade(port, { Host: 'localhost:40002', Origin: 'http://localhost:40002' })).toBe(403);
  });

  it('[DEV-053] [DEV-054] takes nobody in it for a program of this machine: wrong tokens make the next ones wait', async () => {
    const tunnels = new Tunnels();
    const { port } = await startEcho({ tunnels });
    tunnels.open(ORIGIN);
    const wrong = () => upgrade(port, through(NAME), '?token=wrong');
    const statuses = await Promise.all(Array.from({ length: 10 }, wrong));
    expect(new Set(statuses)).toEqual(new Set([401]));
    // From now on this address waits, four at once, and further ones are refused unseen.
    const waiting = Array.from({ length: 5 }, wrong);
    expect(await Promise.race(waiting)).toBe(429);
    // Another address, and a program of the machine, are not slowed down.
    expect(await upgrade(port, through(NAME, { 'X-Forwarded-For': '203.0.113.9' }))).toBe(101);
    expect(await upgrade(port, {})).toBe(101);
  });

  it('[DEV-053] is for a tunnel on this machine alone: its name from elsewhere, or through a proxy, is any other name', () => {
    const tunnels = new Tunnels();
    tunnels.open(ORIGIN);
    const source = { address: '127.0.0.1', scheme: 'http', host: [NAME], isProxied: false } as const;
    expect(tunnels.through(source, {})).toMatchObject({ address: 'tunnel', isTunnelled: true, isProxied: true });
    for (const other of [{ address: '203.0.113.9' }, { isProxied: true }, { address: '203.0.113.9', isProxied: true }])
      expect(tunnels.through({ ...source, ...other }, {})).toEqual({ ...source, ...other });
  });

  it('[DEV-053] never leads into a host that asks for no token', async () => {
    const tunnels = new Tunnels();
    const { port } = await startEcho({ tunnels, policy: {} });
    tunnels.open(ORIGIN);
    expect(await upgrade(port, {}, '')).toBe(101);
    expect(await upgrade(port, through(NAME), '')).toBe(401);
    expect(await upgrade(port, through(NAME), `?token=${TOKEN}`)).toBe(401);
  });

  it('[DEV-053] is an origin with encryption, or one of this machine; no other way is opened twice, and there are few', () => {
    const tunnels = new Tunnels();
    for (const wrong of ['', 'name', 'https://name/path', 'https://me@name', 'ftp://name', 'https://name?x', 'null'])
      expect(() => tunnels.open(wrong), wrong).toThrow('is not an origin');
    expect(() => tunnels.open('http://name.example')).toThrow('is not encrypted');
    tunnels.open('https://name.example');
    expect(() => tunnels.open('https://NAME.example')).toThrow('is open already');
    for (let index = 1; index < TUNNELS_MAX; index += 1) tunnels.open(`http://localhost:${index}`);
    expect(() => tunnels.open('https://one-more.example')).toThrow(TunnelError);
  });
});
