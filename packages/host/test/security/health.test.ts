import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { startEdge } from '../../src/cluster/edge.js';
import type { Health } from '../../src/server/health.js';
import { startServer } from '../../src/server/server.js';

const get = async (port: number, path: string, init?: RequestInit) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  return [response.status, (await response.text()).trim()];
};

describe('a host that is asked how it is', () => {
  it('[CLU-033] says that it lives, and whether it is ready', async () => {
    let health: Health = { isReady: true, text: 'active' };
    const policy = { token: 'token', isGenerated: false, allowedOrigins: [], allowedHosts: [], insecureRemote: false };
    const server = await startServer({ policy, health: () => health, onConnection: () => {} });
    onTestFinished(() => server.close());
    expect(await get(server.port, '/livez')).toEqual([200, 'alive']);
    expect(await get(server.port, '/readyz?x')).toEqual([200, 'active']);
    health = { isReady: false, text: 'the engine cannot be reached' };
    expect(await get(server.port, '/readyz')).toEqual([503, 'the engine cannot be reached']);
    expect(await get(server.port, '/livez')).toEqual([200, 'alive']);
    expect(await get(server.port, '/readyz', { method: 'POST' })).toEqual([404, '']);
  });

  it('[CLU-033] refuses clients in HTTP where it knows no host to serve them', async () => {
    const server = await startEdge({
      ...{ host: 'localhost', port: 0, policy: { token: 'token', isGenerated: true }, logger: { log: () => {} } },
      active: () => undefined,
      state: () => 'joining',
    });
    onTestFinished(() => server.close());
    expect(await get(server.port, '/livez')).toEqual([200, 'alive']);
    expect(await get(server.port, '/readyz')).toEqual([503, 'joining']);
    expect(await get(server.port, '/')).toEqual([503, 'joining']);
    const client = new WebSocket(`ws://127.0.0.1:${server.port}/`);
    client.on('error', () => {});
    const [, response] = await once(client, 'unexpected-response');
    expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '1']);
    client.terminate();
  });
});
