import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LINGER_MS, PendingConnections } from '../../src/server/pending-connections.js';

/** The two sides of a connection: what the host writes, and whether its socket still stands. */
function peer() {
  const written: string[] = [];
  const socket = new Duplex({
    read() {},
    write(chunk, _, done) {
      written.push(String(chunk));
      done();
    },
    allowHalfOpen: true,
  });
  return { socket, answer: () => written.join('') };
}

const bodyOf = (answer: string) => answer.split('\r\n\r\n')[1] ?? '';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('connections that wait to be accepted', () => {
  it('[REL-057] are bounded: one more, and the oldest is refused', () => {
    const pending = new PendingConnections(2);
    const [first, second, third] = [peer(), peer(), peer()];
    pending.add(first.socket);
    pending.add(second.socket);
    expect(first.answer()).toBe('');
    pending.add(third.socket);
    expect(first.answer()).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
    expect([second.answer(), third.answer()]).toEqual(['', '']);
    expect([first, second].map(({ socket }) => pending.hasRefused(socket))).toEqual([true, false]);
  });

  it('[REL-057] count no more once they are accepted, refused or gone', async () => {
    const pending = new PendingConnections(1);
    const [accepted, refused, gone, last] = [peer(), peer(), peer(), peer()];
    pending.add(accepted.socket);
    pending.accepted(accepted.socket);
    pending.add(refused.socket);
    pending.refuse(refused.socket, 403, 'No.');
    pending.add(gone.socket);
    await new Promise((done) => gone.socket.once('close', done).destroy());
    pending.add(last.socket);
    expect([accepted, gone, last].map(({ answer }) => answer())).toEqual(['', '', '']);
    expect(pending.hasRefused(last.socket)).toBe(false);
  });
});

describe('a refused connection', () => {
  it.each([
    [401, 'Unauthorized', /WWW-Authenticate: Bearer/],
    [503, 'Service Unavailable', /Retry-After: 5/],
    [403, 'Forbidden', /Connection: close/],
  ])('gets an answer in HTTP: %i %s', (status, text, header) => {
    const { socket, answer } = peer();
    new PendingConnections(9).refuse(socket, status, 'Größe.');
    const [head = '', body] = answer().split('\r\n\r\n');
    const lines = head.split('\r\n');
    expect(lines.slice(0, status === 403 ? 4 : 5)).toEqual([
      `HTTP/1.1 ${status} ${text}`,
      'Connection: close',
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${Buffer.byteLength('Größe.\n')}`,
      ...(status === 403 ? [] : [expect.stringMatching(header)]),
    ]);
    expect(body).toBe('Größe.\n');
  });

  it('gets one answer, and none when it has gone', () => {
    const pending = new PendingConnections(9);
    const { socket, answer } = peer();
    pending.refuse(socket, 403, 'First.');
    pending.refuse(socket, 403, 'Second.');
    expect(bodyOf(answer())).toBe('First.\n');
    const gone = peer();
    gone.socket.destroy();
    pending.refuse(gone.socket, 403, 'No.');
    expect([gone.answer(), pending.hasRefused(gone.socket)]).toEqual(['', false]);
  });

  it('has its input read and dropped, and is cut off when it does not close its side', () => {
    const pending = new PendingConnections(9);
    const { socket } = peer();
    socket.push('unread');
    pending.refuse(socket, 403, 'No.');
    expect(socket.readableFlowing).toBe(true);
    vi.advanceTimersByTime(LINGER_MS - 1);
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(socket.destroyed).toBe(true);
  });

  it('leaves nothing behind once it has closed', async () => {
    const pending = new PendingConnections(9);
    const { socket } = peer();
    pending.add(socket);
    pending.refuse(socket, 403, 'No.');
    await new Promise((done) => socket.once('close', done).destroy());
    expect(pending.hasRefused(socket)).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('may break without harm', () => {
    const pending = new PendingConnections(9);
    const { socket } = peer();
    pending.refuse(socket, 403, 'No.');
    expect(() => socket.emit('error', new Error('reset'))).not.toThrow();
    expect(socket.destroyed).toBe(true);
  });

  it('[REL-057] is one of a bounded number: one more, and the oldest is cut off', () => {
    const pending = new PendingConnections(9);
    const peers = Array.from({ length: 2_049 }, peer);
    for (const { socket } of peers.slice(0, -1)) pending.refuse(socket, 403, 'No.');
    expect(peers.some(({ socket }) => socket.destroyed)).toBe(false);
    pending.refuse((peers.at(-1) as (typeof peers)[0]).socket, 403, 'No.');
    expect(peers.map(({ socket }) => socket.destroyed).indexOf(true)).toBe(0);
    expect(peers[1]?.socket.destroyed).toBe(false);
    pending.close();
    expect(peers.every(({ socket }) => socket.destroyed)).toBe(true);
  });
});

describe('plain requests on one connection', () => {
  const ask = (pending: PendingConnections, socket: Duplex) => {
    const response = new EventEmitter();
    const may = pending.allowsRequest({ socket } as IncomingMessage, response as ServerResponse);
    return { may, response };
  };

  it('[REL-057] are answered one after the other; who does not wait is cut off', () => {
    const pending = new PendingConnections(9);
    const { socket } = peer();
    const first = ask(pending, socket);
    first.response.emit('close');
    const second = ask(pending, socket);
    expect([first.may, second.may, socket.destroyed]).toEqual([true, true, false]);
    expect(ask(pending, socket).may).toBe(false);
    expect(socket.destroyed).toBe(true);
  });

  it('are not answered once it is refused', () => {
    const pending = new PendingConnections(9);
    const { socket } = peer();
    pending.refuse(socket, 403, 'No.');
    expect(ask(pending, socket).may).toBe(false);
    expect(socket.destroyed).toBe(false);
  });
});

describe('a server whose connections are counted', () => {
  function served() {
    const pending = new PendingConnections(1);
    const server = new EventEmitter();
    const [answer, upgrade] = [vi.fn(), vi.fn()];
    pending.serve(server as Server, { answer, upgrade });
    return { pending, server, answer, upgrade };
  }

  it('[REL-057] counts them from the first byte on', () => {
    const { server } = served();
    const [first, second] = [peer(), peer()];
    server.emit('connection', first.socket);
    server.emit('connection', second.socket);
    expect(first.answer()).toMatch(/^HTTP\/1\.1 503 /);
  });

  it('answers requests that may be answered', () => {
    const { server, answer } = served();
    const { socket } = peer();
    for (let count = 0; count < 2; count += 1) server.emit('request', { socket }, new EventEmitter());
    expect(answer).toHaveBeenCalledOnce();
  });

  it('lets those upgrade that have no answer yet, and survives when they break', () => {
    const { pending, server, upgrade } = served();
    const { socket } = peer();
    const head = Buffer.from('');
    server.emit('upgrade', {}, socket, head);
    expect(upgrade).toHaveBeenCalledExactlyOnceWith({}, socket, head);
    expect(() => socket.emit('error', new Error('reset'))).not.toThrow();
    expect(socket.destroyed).toBe(true);
    const refused = peer();
    pending.refuse(refused.socket, 403, 'No.');
    refused.socket.pause();
    server.emit('upgrade', {}, refused.socket, head);
    expect([upgrade.mock.calls.length, refused.socket.readableFlowing]).toEqual([1, true]);
  });
});

describe('a server with TLS whose connections are counted', () => {
  function served(max: number) {
    const pending = new PendingConnections(max);
    const server = Object.assign(new EventEmitter(), { setSecureContext() {} });
    const [answer, upgrade] = [vi.fn(), vi.fn()];
    pending.serve(server as unknown as TlsServer, { answer, upgrade });
    return { pending, server, answer };
  }

  function from(remotePort: number) {
    const one = peer();
    Object.assign(one.socket, { remoteAddress: '203.0.113.9', remotePort, localAddress: '203.0.113.1' });
    return one;
  }

  it('[REL-057] cuts off the oldest handshake without a word: an answer in HTTP would be noise there', () => {
    const { server } = served(2);
    const [first, second, third] = [from(1), from(2), from(3)];
    for (const { socket } of [first, second, third]) server.emit('connection', socket);
    expect([first, second, third].map(({ socket }) => socket.destroyed)).toEqual([true, false, false]);
    expect(first.answer()).toBe('');
  });

  it('[REL-057] counts a connection once, before its handshake and after it', () => {
    const { server } = served(2);
    const [below, secure, waiting] = [from(1), from(1), from(2)];
    server.emit('connection', below.socket);
    server.emit('secureConnection', secure.socket);
    server.emit('connection', waiting.socket);
    expect([secure.answer(), below.socket.destroyed, waiting.socket.destroyed]).toEqual(['', false, false]);
    server.emit('connection', from(3).socket);
    expect(secure.answer()).toMatch(/^HTTP\/1\.1 503 /);
    expect([below.socket.destroyed, waiting.socket.destroyed]).toEqual([false, false]);
  });

  it('[REL-057] forgets a handshake that was broken off', async () => {
    const { server } = served(1);
    const [broken, next] = [from(1), from(1)];
    server.emit('connection', broken.socket);
    await new Promise((done) => broken.socket.once('close', done).destroy());
    server.emit('connection', next.socket);
    expect(next.socket.destroyed).toBe(false);
    server.emit('connection', from(2).socket);
    expect(next.socket.destroyed).toBe(true);
  });

  it('answers its requests', () => {
    const { server, answer } = served(1);
    server.emit('request', { socket: from(1).socket }, new EventEmitter());
    expect(answer).toHaveBeenCalledOnce();
  });
});
