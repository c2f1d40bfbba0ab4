/** A provider that asks and asks, and never reads an answer. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Transport } from '@atrium/core/wire/transport.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { startGatewayServer } from '../../../src/gateway/gateway-server.js';
import { UNREAD_MAX_BYTES } from '../../../src/gateway/provider-connection.js';
import { openProject, openProjectHost } from './support/project-host.js';

const MEGABYTE = 2 ** 20;
const STREAMS = Array.from({ length: 8 }, (_, index) => `s${index}`);
/** What one query gives: the limit is looked at when it has been written. */
const ANSWER_MAX_BYTES = (STREAMS.length + 1) * MEGABYTE;

describe('a provider that does not read', () => {
  it('is cut off when too much waits for it, and nobody else notices', { timeout: 20_000 }, async () => {
    const project = await openProjectHost();
    const session = await openProject(project, 'hostile');
    const transports: Transport[] = [];
    const gateway = await startGatewayServer({
      port: 0,
      onConnection: (transport) => {
        transports.push(transport);
        project.host.host.connectProvider(transport, 'network');
      },
    });
    onTestFinished(() => gateway.close());
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}`);
    onTestFinished(() => socket.terminate());
    await new Promise((resolve) => socket.once('open', resolve));
    const send = (message: object) => socket.send(JSON.stringify(message));
    send({ type: 'auth', token: session.token('hostile') });
    send({ type: 'hello', name: 'hostile', protocolVersion: 2 });
    for (const stream of STREAMS) send({ type: 'push', stream, level: 'keep', event: 'x'.repeat(MEGABYTE - 100) });
    await expect.poll(() => project.host.host.activity.providers).toBe(1);
    socket.pause();
    let most = 0;
    for (let count = 0; project.host.host.activity.providers > 0 && count < 2_000; count++) {
      if (count < 20) send({ type: 'stream.query', queryId: `${count}`, streams: STREAMS, last: 100 });
      await pause(5);
      most = Math.max(most, transports[0]?.bufferedBytes ?? 0);
    }
    expect(project.host.host.activity.providers).toBe(0);
    expect(most).toBeGreaterThan(UNREAD_MAX_BYTES / 2);
    expect(most).toBeLessThanOrEqual(UNREAD_MAX_BYTES + ANSWER_MAX_BYTES);
    const { turn } = await session.turn();
    expect(turn.tools()).toBeDefined();
    socket.terminate();
  });
});
