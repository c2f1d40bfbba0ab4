import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { isBuilt, newDataFolder } from './support/host.js';
import { atrium } from './support/run-cli.js';

const USUAL_PORT = 9400;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, 'localhost', () => server.close(() => resolve(true)));
  });
}

/** The answer of that port to a token that no host has given out. */
function answerAt(url: string): Promise<unknown> {
  const socket = new WebSocket(url);
  return new Promise((resolve, reject) => {
    socket.on('open', () => socket.send(JSON.stringify({ type: 'auth', token: 'nobody' })));
    socket.on('message', (data) => resolve(JSON.parse(data.toString())));
    socket.on('error', reject);
  }).finally(() => socket.terminate());
}

describe.skipIf(!isBuilt)('the port for providers (skipped unless it has been built)', () => {
  it('[GW-002] is 9400 on this machine when nobody says otherwise', { timeout: 30_000 }, async ({ skip }) => {
    if (!(await isFree(USUAL_PORT))) skip(`port ${USUAL_PORT} is taken on this machine`);
    const options = ['--quiet', '--port', '0', '--data-dir', await newDataFolder()];
    const host = atrium(['serve', ...options], { ATRIUM_GATEWAY_PORT: '' });
    await host.says(/^READY:\d+$/m);
    for (const name of ['localhost', '127.0.0.1'])
      expect(await answerAt(`ws://${name}:${USUAL_PORT}`)).toMatchObject({ type: 'error', code: 'AUTH_FAILED' });
  });

  it('[GW-002] is the one that was asked for', { timeout: 30_000 }, async () => {
    const options = ['--quiet', '--log-level', 'info', '--port', '0', '--data-dir', await newDataFolder()];
    const host = atrium(['serve', ...options, '--gateway-port', '0']);
    await host.says(/^READY:\d+$/m);
    const [, port] = /listening for providers.*port=(\d+)/.exec(host.said.stderr) ?? [];
    expect(Number(port)).toBeGreaterThan(0);
    expect(Number(port)).not.toBe(USUAL_PORT);
    expect(await answerAt(`ws://localhost:${port}`)).toMatchObject({ type: 'error', code: 'AUTH_FAILED' });
  });
});
