/** Clients that watch one terminal, in a process of their own: they count what it writes until its last words came. */
import { answer, fail } from './helper.mjs';
import { RawSocket } from './raw-socket.mjs';

const ROOT = 'ahp-root://';
let sockets = [];
let counts = [];
let waiting = 0;
let whenAll = () => {};
let terminalUri = '';
let writes = 0;

answer({ open, shown, close });

/** Opens the terminal; the first client owns it, and the others watch. */
async function open({ port, count, terminal, end }) {
  terminalUri = terminal;
  counts = Array.from({ length: count }, () => 0);
  waiting = count;
  const owner = await greeted(port, 'owner');
  await owner.ask(2, 'createTerminal', { channel: terminal, claim: { kind: 'client', clientId: clientId('owner') } });
  sockets = [owner];
  for (let index = 0; index < count; index++) {
    const socket = await greeted(port, index);
    await socket.ask(2, 'subscribe', { channel: terminal });
    socket.onmessage = (payload) => take(index, payload, end);
    socket.onclose = () => waiting > 0 && fail(`watcher ${index} was closed`);
    sockets.push(socket);
  }
}

function clientId(name) {
  return `watcher-${process.pid}-${name}`;
}

async function greeted(port, name) {
  const socket = await RawSocket.open(port);
  await socket.ask(1, 'initialize', { channel: ROOT, protocolVersions: ['0.3.0'], clientId: clientId(name) });
  return socket;
}

/** Looked at as text: reading JSON ten times over would cost more than the host. */
function take(index, payload, end) {
  const text = payload.latin1Slice();
  if (!text.includes('"terminal/data"')) return;
  counts[index] += text.length;
  if (text.includes(end) && --waiting === 0) whenAll();
}

/** Types into the terminal; resolves when every watcher has seen the end, with what the least of them got. */
async function shown({ input }) {
  const done = new Promise((resolve) => {
    whenAll = resolve;
  });
  const action = { type: 'terminal/input', data: input };
  const params = { channel: terminalUri, clientSeq: ++writes, action };
  sockets[0].send(JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params }));
  await done;
  return Math.min(...counts);
}

function close() {
  for (const socket of sockets) socket.close();
}
