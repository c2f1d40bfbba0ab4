/** Clients that watch one terminal, in a process of their own: they count what it writes until its last words came. */
import { once } from 'node:events';
import { WebSocket } from 'ws';

let sockets = [];
let counts = [];
let waiting = 0;
let report = () => {};

process.on('message', async ({ command, ...options }) => {
  if (command === 'connect') await connect(options);
  if (command === 'wait') wait();
  if (command === 'close') close();
});

async function connect({ url, count, terminal, end }) {
  waiting = count;
  counts = Array.from({ length: count }, () => 0);
  sockets = await Promise.all(counts.map((_, index) => join({ url, terminal, end }, index)));
  process.send({ connected: sockets.length });
}

async function join({ url, terminal, end }, index) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, 'open');
  const root = { channel: 'ahp-root://', protocolVersions: ['0.3.0'], clientId: `watcher-${index}-${Math.random()}` };
  await call(socket, 1, 'initialize', root);
  await call(socket, 2, 'subscribe', { channel: terminal });
  socket.on('message', (data) => take(index, String(data), end));
  socket.on('close', (code) => waiting > 0 && fail(`a watcher was closed: ${code}`));
  return socket;
}

async function call(socket, id, method, params) {
  socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  for (;;) {
    const [data] = await once(socket, 'message');
    const message = JSON.parse(data);
    if (message.error) fail(`${method}: ${message.error.message}`);
    if (message.id === id) return;
  }
}

/** Looked at as text: reading JSON ten times over would be measured instead of the host. */
function take(index, text, end) {
  if (!text.includes('"terminal/data"')) return;
  counts[index] += text.length;
  if (text.includes(end) && --waiting === 0) report();
}

function wait() {
  report = () => process.send({ least: Math.min(...counts) });
  if (waiting === 0) report();
}

function close() {
  for (const socket of sockets) socket.terminate();
  process.send({ closed: true });
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
