import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { WireFrame } from '@atrium/core/wire/frames.js';
import { PAYLOAD_MAX_BYTES } from '@atrium/core/wire/limits.js';
import { CloseCode, type TransportEvents } from '@atrium/core/wire/transport.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { HEARTBEAT_MS } from '../../../src/server/limits.js';
import { CLOSE_TIMEOUT_MS } from '../../../src/server/websocket.js';
import { ask, client, closeOf, openClient, startEcho, startManual, TestClock } from './support.js';

function events() {
  return { message: vi.fn(), drain: vi.fn(), closed: vi.fn() } satisfies TransportEvents;
}

async function connected(options?: Parameters<typeof startManual>[0]) {
  const { server, transport } = await startManual(options);
  const websocket = await openClient(server.port);
  return { server, websocket, transport: await transport };
}

/** The socket under a client. */
const socketOf = (websocket: WebSocket) => (websocket as unknown as { readonly _socket: Socket })._socket;

describe('a WebSocket transport', () => {
  it('is named after its peer', async () => {
    const { transport } = await connected();
    expect(transport.name).toMatch(/^websocket 127\.0\.0\.1:\d+$/);
  });

  it('delivers what came before it was started, in order', async () => {
    const { transport, websocket } = await connected();
    for (const text of ['one', 'two', 'three']) websocket.send(text);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const handlers = events();
    transport.start(handlers);
    await vi.waitFor(() => expect(handlers.message.mock.calls).toEqual([['one'], ['two'], ['three']]), 10_000);
  });

  it('[AHP-001] sends frames of every length class in order, and pings land between them', async () => {
    const { transport, websocket } = await connected();
    transport.start(events());
    const texts = [0, 1, 125, 126, 65_535, 65_536, 300_000].map((length) => 'ü'.repeat(length / 2).padEnd(length, 'x'));
    const got: string[] = [];
    websocket.on('message', (data, isBinary) => got.push(isBinary ? 'binary!' : String(data)));
    websocket.ping();
    transport.send(texts.map((text) => new WireFrame(text)));
    websocket.ping();
    transport.send([new WireFrame('last')]);
    await vi.waitFor(() => expect(got).toHaveLength(texts.length + 1), 10_000);
    expect(got).toEqual([...texts, 'last']);
  });

  it('[REL-058] sends a message in parts as fragments of one, with pings between them', async () => {
    const { server, transport } = await startManual();
    const websocket = await openClient(server.port);
    const host = await transport;
    host.start({ message: () => {}, drain: () => {}, closed: () => {} });
    const events: string[] = [];
    websocket.on('message', (data) => events.push(String(data)));
    websocket.on('pong', () => events.push('pong'));
    const texts = ['é', '', 'x'.repeat(200), 'y'.repeat(70_000)];
    const bytes = ['', 'é', 'x'.repeat(70_000), ''];
    for (const [index, text] of texts.entries()) {
      const rest = bytes[index] ? Buffer.from(bytes[index]) : undefined;
      host.sendPart?.({ text, bytes: rest, isFirst: index === 0, isLast: index === texts.length - 1 });
      websocket.ping();
      if (index === 1) await once(websocket, 'pong');
    }
    host.send([new WireFrame('behind')]);
    await vi.waitFor(() => expect(events).toContain('behind'), 10_000);
    expect(events[0]).toBe('pong');
    expect(events.filter((event) => event !== 'pong')).toEqual([
      texts.map((text, index) => text + bytes[index]).join(''),
      'behind',
    ]);
  });

  it('keeps bytes and pings apart under load: 20,000 messages with pings and pongs in both directions', async () => {
    const { transport, websocket } = await connected({ clock: new TestClock() });
    transport.start(events());
    let got = 0;
    websocket.on('message', (data) => expect(Number(String(data))).toBe(got++));
    for (let batch = 0; batch < 200; batch += 1) {
      websocket.ping(`ping ${batch}`);
      transport.send(Array.from({ length: 100 }, (_, index) => new WireFrame(String(batch * 100 + index))));
      if (batch % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await vi.waitFor(() => expect(got).toBe(20_000), 5_000);
    expect(websocket.readyState).toBe(websocket.OPEN);
  });

  it('counts what the peer has not taken, and says when there is room again', async () => {
    const { transport, websocket } = await connected();
    const handlers = events();
    transport.start(handlers);
    websocket.pause();
    transport.send([new WireFrame('x'.repeat(20 * 2 ** 20))]);
    expect(transport.bufferedBytes).toBeGreaterThan(2 ** 20);
    expect(handlers.drain).not.toHaveBeenCalled();
    websocket.resume();
    await vi.waitFor(() => expect(handlers.drain).toHaveBeenCalledTimes(1), 5_000);
    expect(transport.bufferedBytes).toBe(0);
  });

  it('closes with code and reason, once, and is silent afterwards', async () => {
    const { transport, websocket } = await connected();
    const handlers = events();
    transport.start(handlers);
    const closed = closeOf(websocket);
    transport.send([new WireFrame('goodbye')]);
    transport.close(CloseCode.TooSlow, 'reads too slowly');
    transport.close(CloseCode.Normal, 'again');
    transport.send([new WireFrame('too late')]);
    websocket.send('ignored');
    expect(String((await once(websocket, 'message'))[0])).toBe('goodbye');
    expect(await closed).toEqual({ code: 4001, reason: 'reads too slowly' });
    await vi.waitFor(() => expect(handlers.closed).toHaveBeenCalledTimes(1), 10_000);
    expect(handlers.message).not.toHaveBeenCalled();
  });

  it('cuts a reason that is too long between characters', async () => {
    const { transport, websocket } = await connected();
    transport.start(events());
    transport.close(CloseCode.PolicyViolation, 'ü'.repeat(100));
    expect(await closeOf(websocket)).toEqual({ code: 1008, reason: 'ü'.repeat(61) });
  });

  it('says that it is closed, also when that happened before it was started', async () => {
    const { transport, websocket } = await connected();
    websocket.terminate();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const handlers = events();
    transport.start(handlers);
    await vi.waitFor(() => expect(handlers.closed).toHaveBeenCalledTimes(1), 10_000);
  });
});

describe('a server that stops', () => {
  it('[REL-097] cuts a peer that has ended its side and takes nothing more', async () => {
    const { server, transport } = await startManual();
    const websocket = await openClient(server.port);
    const socket = socketOf(websocket);
    (await transport).start(events());
    websocket.pause();
    (await transport).send([new WireFrame('x'.repeat(20 * 2 ** 20))]);
    await vi.waitFor(() => expect(socket.readableLength).toBeGreaterThan(0), 10_000);
    socket.end();
    await pause(50);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const ended = vi.fn();
    const closed = server.close().then(ended);
    await vi.advanceTimersByTimeAsync(CLOSE_TIMEOUT_MS - 1);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await closed;
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('frames that are not a message', () => {
  it('[REL-007] delivers 8 MiB, and closes with 1009 for one byte more while others are served', async () => {
    const { port } = await startEcho();
    const [big, other] = [await openClient(port), await openClient(port)];
    expect(await ask(big, 'x'.repeat(PAYLOAD_MAX_BYTES))).toHaveLength(PAYLOAD_MAX_BYTES);
    big.send('x'.repeat(PAYLOAD_MAX_BYTES + 1));
    expect((await closeOf(big)).code).toBe(CloseCode.TooBig);
    expect(await ask(other, 'still here')).toBe('still here');
  });

  it('[REL-007] counts the fragments of a message together', async () => {
    const { port } = await startEcho();
    const websocket = await openClient(port);
    for (let part = 0; part < 9; part += 1) websocket.send('x'.repeat(2 ** 20), { fin: false });
    expect((await closeOf(websocket)).code).toBe(CloseCode.TooBig);
  });

  it('[REL-008] closes with 1003 and a reason for a binary frame', async () => {
    const { port } = await startEcho();
    const websocket = await openClient(port);
    websocket.send(Buffer.from('{}'));
    expect(await closeOf(websocket)).toEqual({ code: 1003, reason: 'send text frames: one JSON message in each' });
  });

  it('[REL-008] delivers an empty frame and a BOM as they are: they get an answer', async () => {
    const { port } = await startEcho();
    const websocket = await openClient(port);
    expect(await ask(websocket, '')).toBe('');
    expect(await ask(websocket, '\uFEFF{}')).toBe('\uFEFF{}');
  });

  it('[REL-008] closes with 1007 for text that is not UTF-8', async () => {
    const { port } = await startEcho();
    const websocket = await openClient(port);
    websocket.send(Buffer.from([0xc3, 0x28]), { binary: false });
    expect((await closeOf(websocket)).code).toBe(1007);
  });

  it('does not compress, whatever the client offers', async () => {
    const { port } = await startEcho();
    const websocket = await openClient(port, { perMessageDeflate: true });
    expect(websocket.extensions).toBe('');
  });
});

describe('the heartbeat', () => {
  async function beating(options?: { autoPong?: boolean }) {
    const clock = new TestClock();
    const { server, transport } = await startManual({ clock });
    const websocket = client(server.port, options);
    await once(websocket, 'open');
    const handlers = events();
    (await transport).start(handlers);
    return { clock, websocket, handlers };
  }

  it('goes on for as long as the peer answers', async () => {
    const { clock, websocket, handlers } = await beating();
    for (let beat = 0; beat < 5; beat += 1) {
      const asked = once(websocket, 'ping');
      clock.advance(HEARTBEAT_MS);
      await asked;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(handlers.closed).not.toHaveBeenCalled();
  });

  it('[REL-006] ends a connection whose peer leaves two pings unanswered', async () => {
    const { clock, websocket, handlers } = await beating({ autoPong: false });
    clock.advance(HEARTBEAT_MS);
    clock.advance(HEARTBEAT_MS);
    expect(websocket.readyState).toBe(websocket.OPEN);
    expect(handlers.closed).not.toHaveBeenCalled();
    clock.advance(HEARTBEAT_MS);
    await vi.waitFor(() => expect(handlers.closed).toHaveBeenCalledTimes(1), 10_000);
    expect(clock.pending).toBe(0);
  });

  it('takes any message as a sign of life', async () => {
    const { clock, websocket, handlers } = await beating({ autoPong: false });
    for (let beat = 1; beat <= 5; beat += 1) {
      clock.advance(HEARTBEAT_MS);
      websocket.send('busy');
      await vi.waitFor(() => expect(handlers.message).toHaveBeenCalledTimes(beat), 10_000);
    }
    expect(handlers.closed).not.toHaveBeenCalled();
  });

  it('leaves no timer behind', async () => {
    const { clock, websocket, handlers } = await beating();
    expect(clock.pending).toBe(1);
    websocket.close();
    await vi.waitFor(() => expect(handlers.closed).toHaveBeenCalledTimes(1), 10_000);
    expect(clock.pending).toBe(0);
  });
});
