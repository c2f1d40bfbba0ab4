/**
 * The other side of a fan-out benchmark, in a process of its own so that its work is not counted: many WebSocket clients
 * that count what they get. Told over IPC what to do; answers when everything has arrived.
 */
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { WebSocket } from 'ws';

const ROOT = 'ahp-root://';
/** Versions in which a session and its conversation are one channel. */
const WITHOUT_CHATS = new Set(['0.3.0', '0.2.0']);

let sockets = [];
let received = 0;
let expected = Number.POSITIVE_INFINITY;
const delays = [];

process.on('message', async ({ command, ...options }) => {
  if (command === 'connect') await connect(options);
  if (command === 'expect') expect(options);
  if (command === 'close') close();
});

async function connect({ url, count, session, dialects }) {
  received = 0;
  expected = Number.POSITIVE_INFINITY;
  sockets = [];
  for (let index = 0; index < count; index++) {
    sockets.push(await join({ url, session, dialect: dialects?.[index % dialects.length] }, index));
  }
  process.send({ connected: sockets.length });
}

async function join({ url, session, dialect }, index) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  if (dialect) await subscribe(socket, { session, dialect, clientId: `bench-${index}-${Math.random()}` });
  socket.on('message', count);
  return socket;
}

async function subscribe(socket, { session, dialect, clientId }) {
  if (dialect === '1') {
    await call(socket, 1, 'initialize', { protocolVersion: 1, clientId });
    await call(socket, 2, 'subscribe', { resource: session.replace('ahp-session', 'bench') });
    return;
  }
  await call(socket, 1, 'initialize', { channel: ROOT, protocolVersions: [dialect], clientId });
  await call(socket, 2, 'subscribe', { channel: session });
  if (!WITHOUT_CHATS.has(dialect)) await call(socket, 3, 'subscribe', { channel: defaultChatUri(session) });
}

function call(socket, id, method, params) {
  socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  return new Promise((resolve, reject) => {
    const listener = (data) => {
      const message = JSON.parse(data);
      if (message.id !== id) return;
      socket.off('message', listener);
      if (message.error) reject(new Error(`${method}: ${message.error.message}`));
      else resolve();
    };
    socket.on('message', listener);
  });
}

/** Every hundredth message is looked into: it may say when it was sent. */
function count(data) {
  received++;
  if (received % 100 === 0) {
    const sent = /@(\d+\.\d+)@/.exec(data.toString());
    if (sent) delays.push(Date.now() - Number(sent[1]));
  }
  if (received >= expected) report();
}

function expect({ count: wanted }) {
  expected = wanted;
  if (received >= expected) report();
}

function report() {
  expected = Number.POSITIVE_INFINITY;
  delays.sort((a, b) => a - b);
  process.send({ received, p99: delays[Math.floor(delays.length * 0.99)] ?? 0 });
  delays.length = 0;
  received = 0;
}

function close() {
  for (const socket of sockets) socket.terminate();
  sockets = [];
  process.send({ closed: true });
}
