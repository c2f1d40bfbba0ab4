/** The transport over a WebSocket that a test plays: what happens at which state of it. */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { WireFrame } from '@atrium/core/wire/frames.js';
import { describe, expect, it, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { CONTROL_FRAMES_MAX, UNADMITTED_PEER_MAX_BYTES, UnadmittedBudget } from '../../../src/server/peer-budget.js';
import { websocketTransport } from '../../../src/server/websocket.js';

const MIB = 2 ** 20;

class PlayedWebSocket extends EventEmitter {
  readonly extensions = '';
  readonly OPEN = 1;
  readyState = 1;
  readonly pause = vi.fn();
  readonly resume = vi.fn();
  readonly ping = vi.fn();
  readonly pong = vi.fn<(data: Buffer, isMasked: boolean, sent: () => void) => void>();
  readonly terminate = vi.fn();
  readonly close = vi.fn();
}

class PlayedSocket extends EventEmitter {
  writableLength = 0;
  readonly cork = vi.fn();
  readonly uncork = vi.fn();
  readonly write = vi.fn<(data: Buffer, written?: () => void) => void>();
  readonly end = vi.fn();
  readonly destroy = vi.fn();
  constructor(
    readonly remoteAddress: string | undefined = '10.0.0.1',
    readonly remotePort: number | undefined = 7,
  ) {
    super();
  }
}

function connect(options: { strangers?: UnadmittedBudget; socket?: PlayedSocket } = {}) {
  const { socket = new PlayedSocket(), strangers } = options;
  const websocket = new PlayedWebSocket();
  const cancel = vi.fn();
  const beats: (() => void)[] = [];
  const clock = {
    now: () => 0,
    after: (_: number, beat: () => void) => {
      beats.push(beat);
      return cancel;
    },
  };
  const transport = websocketTransport({
    websocket: websocket as unknown as WebSocket,
    socket: socket as unknown as Socket,
    clock,
    ...(strangers && { unadmitted: strangers }),
  });
  const events = { message: vi.fn(), drain: vi.fn(), closed: vi.fn() };
  const beat = () => beats.pop()?.();
  return { transport, websocket, socket, events, cancel, beat };
}

describe('the name of a peer', () => {
  it.each([
    ['10.0.0.1', 7, 'websocket 10.0.0.1:7'],
    ['::1', 7, 'websocket [::1]:7'],
  ])('at %s is written as an address', (address, port, name) => {
    expect(connect({ socket: new PlayedSocket(address, port) }).transport.name).toBe(name);
  });

  it('that has gone already is unknown', () => {
    const socket = Object.assign(new PlayedSocket(), { remoteAddress: undefined, remotePort: undefined });
    expect(connect({ socket: socket as unknown as PlayedSocket }).transport.name).toBe('websocket unknown:0');
  });
});

describe('reading', () => {
  it('begins at the start, and nothing is delivered after the close', () => {
    const { transport, websocket, events } = connect();
    expect(websocket.pause).toHaveBeenCalledOnce();
    expect(websocket.resume).not.toHaveBeenCalled();
    transport.start(events);
    expect(websocket.resume).toHaveBeenCalledOnce();
    websocket.emit('message', Buffer.from('one'), false);
    websocket.readyState = 2;
    websocket.emit('message', Buffer.from('two'), false);
    websocket.emit('message', Buffer.from('three'), true);
    expect(events.message.mock.calls).toEqual([['one']]);
    expect(websocket.close).not.toHaveBeenCalled();
  });

  it('pauses while the connection stands, and goes on for the close frame', () => {
    const { transport, websocket } = connect();
    transport.pause?.();
    expect(websocket.pause).toHaveBeenCalledTimes(2);
    transport.resume?.();
    transport.close(1000, 'bye');
    expect(websocket.resume).toHaveBeenCalledTimes(2);
    websocket.emit('close');
    transport.pause?.();
    expect(websocket.pause).toHaveBeenCalledTimes(2);
  });

  it('outlives an error of the socket, and tells the end once', async () => {
    const { transport, websocket, events, cancel } = connect();
    transport.start(events);
    websocket.emit('error', new Error('reset'));
    expect(events.closed).not.toHaveBeenCalled();
    websocket.emit('close');
    websocket.emit('close');
    expect(events.closed).toHaveBeenCalledOnce();
    expect(cancel).toHaveBeenCalledOnce();
  });
});

describe('writing', () => {
  const frame = (text: string) => new WireFrame(text);
  const part = { text: 'a', isFirst: true, isLast: true };

  it('puts several frames into one packet, and one frame needs none', () => {
    const { transport, socket } = connect();
    transport.send([]);
    transport.send([frame('a')]);
    expect([socket.write.mock.calls.length, socket.cork.mock.calls.length]).toEqual([1, 0]);
    const both = [frame('b'), frame('c')];
    transport.send(both);
    const [, together] = socket.write.mock.calls.map(([data]) => data);
    expect(together).toEqual(Buffer.concat(both.map(({ websocket }) => websocket)));
    // The same list to another client is the same bytes.
    const other = connect();
    other.transport.send(both);
    expect(other.socket.write.mock.calls[0]?.[0]).toBe(together);
    expect(socket.cork).not.toHaveBeenCalled();
    transport.send([frame('d'.repeat(70_000)), frame('e')]);
    expect(socket.write.mock.calls.slice(2).map(([data]) => data.at(-1))).toEqual([100, 101]);
    expect([socket.cork.mock.calls.length, socket.uncork.mock.calls.length]).toEqual([1, 1]);
    expect(socket.write.mock.calls.every(([, written]) => written === undefined)).toBe(true);
  });

  it('stops with the close frame', () => {
    const { transport, websocket, socket } = connect();
    websocket.readyState = 2;
    transport.send([frame('a'), frame('b')]);
    transport.sendPart?.(part);
    expect(socket.write).not.toHaveBeenCalled();
  });

  it.each(['a message', 'a part'])('says that there is room again after %s, if there was none, and once', (kind) => {
    const { transport, socket, events } = connect();
    transport.start(events);
    const send = () => (kind === 'a part' ? transport.sendPart?.(part) : transport.send([frame('a')]));
    const written = () => socket.write.mock.lastCall?.[1]?.();
    send();
    written();
    expect(events.drain).not.toHaveBeenCalled();
    socket.writableLength = 5;
    send();
    expect(transport.bufferedBytes).toBe(5);
    written();
    expect(events.drain).not.toHaveBeenCalled();
    socket.writableLength = 0;
    written();
    written();
    expect(events.drain).toHaveBeenCalledOnce();
  });
});

describe('pings', () => {
  it('are answered one at a time, the newest of those that wait, and not after the close', () => {
    const { websocket } = connect();
    const answered = () => websocket.pong.mock.calls.map(([data]) => String(data));
    const sent = () => websocket.pong.mock.lastCall?.[2]();
    for (const text of ['a', 'b', 'c']) websocket.emit('ping', Buffer.from(text));
    expect(answered()).toEqual(['a']);
    expect(websocket.pong.mock.lastCall?.[1]).toBe(false);
    sent();
    sent();
    expect(answered()).toEqual(['a', 'c']);
    websocket.emit('ping', Buffer.from('d'));
    websocket.emit('ping', Buffer.from('e'));
    websocket.readyState = 2;
    sent();
    expect(answered()).toEqual(['a', 'c', 'd']);
  });

  it('[REL-057] that are too many between two heartbeats end the connection, with a reason', () => {
    const { transport, websocket, socket, events, beat } = connect();
    transport.start(events);
    const flood = (kind: string) => {
      for (let count = 0; count < CONTROL_FRAMES_MAX; count += 1) websocket.emit(kind, Buffer.from(''));
    };
    flood('pong');
    beat();
    flood('ping');
    expect(websocket.close).not.toHaveBeenCalled();
    websocket.emit('pong');
    expect(websocket.close).toHaveBeenCalledExactlyOnceWith(1008, 'sent too many pings and pongs');
    expect(socket.end).toHaveBeenCalledOnce();
    expect(events.closed).toHaveBeenCalledOnce();
    websocket.emit('message', Buffer.from('more'), false);
    websocket.emit('ping', Buffer.from('more'));
    expect([events.message.mock.calls.length, websocket.pong.mock.calls.length]).toEqual([0, 1]);
  });

  it('[CLU-015] need no answer while the host does not read', () => {
    const { transport, websocket, beat } = connect();
    transport.pause?.();
    for (let beats = 0; beats < 6; beats++) beat();
    expect([websocket.ping.mock.calls.length, websocket.terminate.mock.calls.length]).toEqual([6, 0]);
    transport.resume?.();
    for (let beats = 0; beats < 3; beats++) beat();
    expect(websocket.terminate).toHaveBeenCalledOnce();
  });

  it('[REL-006] go out at every heartbeat; any answer keeps the connection, two without one end it', () => {
    const { websocket, beat } = connect();
    for (const sign of ['pong', 'message', 'pong']) {
      beat();
      beat();
      websocket.emit(sign, Buffer.from(''), false);
    }
    beat();
    beat();
    expect([websocket.ping.mock.calls.length, websocket.terminate.mock.calls.length]).toEqual([8, 0]);
    beat();
    expect([websocket.ping.mock.calls.length, websocket.terminate.mock.calls.length]).toEqual([8, 1]);
  });
});

describe('a stranger', () => {
  it('[REL-057] is sent away when it sends too much; the rest of its input is read and dropped, up to a limit', () => {
    const { socket, websocket, transport, events } = connect({ strangers: new UnadmittedBudget() });
    transport.start(events);
    socket.emit('data', Buffer.alloc(UNADMITTED_PEER_MAX_BYTES));
    expect(websocket.close).not.toHaveBeenCalled();
    socket.emit('data', Buffer.alloc(1));
    expect(websocket.close).toHaveBeenCalledExactlyOnceWith(1008, 'sent too much before it was accepted');
    for (let count = 0; count < 16; count += 1) socket.emit('data', Buffer.alloc(MIB));
    expect(socket.destroy).not.toHaveBeenCalled();
    socket.emit('data', Buffer.alloc(1));
    expect(socket.destroy).toHaveBeenCalledOnce();
  });

  it('[REL-057] is counted no more once it is accepted', () => {
    const { socket, websocket, transport } = connect({ strangers: new UnadmittedBudget() });
    transport.admit?.();
    expect(socket.listenerCount('data')).toBe(0);
    socket.emit('data', Buffer.alloc(UNADMITTED_PEER_MAX_BYTES + 1));
    expect(websocket.close).not.toHaveBeenCalled();
  });

  it('is not counted at all when it was accepted before', () => {
    expect(connect().socket.listenerCount('data')).toBe(0);
  });
});
