/** What attackers are made of: sockets, bound or not, and ways to keep at it until the time is up. */
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import WebSocket from 'ws';

/** Attackers must not fill their own memory instead of the host's. */
const UNSENT_MAX_BYTES = 20 * 2 ** 20;
const AT_ONCE_MAX = 500;

export const target = { port: 0, token: '', attack: '', forMs: 0 };
export const counts = { sent: 0, received: 0, opened: 0, closed: 0, refused: 0 };
let endsAt = Number.POSITIVE_INFINITY;

export function isOver() {
  return Date.now() >= endsAt;
}

export function begin() {
  endsAt = Date.now() + target.forMs;
  console.log(JSON.stringify({ begun: true }));
}

/** Resolves also when the connection is refused. */
export function open() {
  const socket = new WebSocket(`ws://127.0.0.1:${target.port}`, { perMessageDeflate: false });
  const count = (what) => () => {
    counts[what] += 1;
  };
  socket.on('message', count('received')).on('close', count('closed')).on('open', count('opened'));
  socket.on('error', count('refused'));
  return new Promise((resolve) => socket.once('open', () => resolve(socket)).once('error', () => resolve(socket)));
}

export function closed(socket) {
  return socket.readyState === WebSocket.CLOSED ? undefined : new Promise((resolve) => socket.once('close', resolve));
}

/** The next message of a type, or the next error. A connection that is closed says nothing any more. */
export function next(socket, type) {
  return new Promise((resolve) => {
    const look = (data) => {
      const message = JSON.parse(data.toString());
      if (message.type !== type && message.type !== 'error') return;
      socket.off('message', look);
      resolve(message);
    };
    socket.on('message', look);
    const isGone = socket.readyState === WebSocket.CLOSING || socket.readyState === WebSocket.CLOSED;
    const gone = { type: 'error', message: 'closed' };
    if (isGone) resolve(gone);
    else socket.once('close', () => resolve(gone));
  });
}

export function send(socket, message) {
  if (socket.readyState !== WebSocket.OPEN) return;
  socket.send(JSON.stringify(message));
  counts.sent += 1;
}

export async function bound(hello = {}) {
  const socket = await open();
  send(socket, { type: 'auth', token: target.token });
  await next(socket, 'sessions');
  send(socket, { type: 'hello', name: 'hostile', protocolVersion: 2, ...hello });
  const answer = await next(socket, 'hello.ack');
  if (answer.type === 'error') throw new Error(JSON.stringify(answer));
  return socket;
}

/** One after the other: of too many who come at once, the gateway sends some away before they are in. */
export async function several(count, make) {
  const made = [];
  while (made.length < count) made.push(await make(made.length));
  return made;
}

export function atOnce(count, make) {
  return Promise.all(Array.from({ length: count }, () => make()));
}

/** Sends the same texts over and over: so many a second, or as many as get through. */
export async function flood(sockets, texts, perSecond = Number.POSITIVE_INFINITY) {
  const messages = texts.map((text) => Buffer.from(text));
  counts.sent = 0;
  begin();
  const began = Date.now();
  for (let index = 0; !isOver(); await pause(1)) {
    const isPaced = Number.isFinite(perSecond);
    const due = isPaced ? ((Date.now() - began) / 1_000) * perSecond - index : AT_ONCE_MAX;
    for (const last = index + Math.min(due, AT_ONCE_MAX); index < last; index++) {
      const socket = sockets[index % sockets.length];
      if (socket.readyState !== WebSocket.OPEN || socket.bufferedAmount >= UNSENT_MAX_BYTES) continue;
      socket.send(messages[index % messages.length], { binary: false });
      counts.sent += 1;
    }
  }
}

export async function again(work) {
  begin();
  while (!isOver()) await work();
}

/** A connection that says its headers letter by letter. */
export function slowHandshake() {
  return new Promise((resolve) => {
    const socket = connect(target.port, '127.0.0.1', () => {
      counts.opened += 1;
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nX-');
      resolve(socket);
    });
    socket.on('error', () => resolve(socket));
  });
}
