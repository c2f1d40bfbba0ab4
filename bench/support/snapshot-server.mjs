/**
 * The side of a large snapshot that sends, in a process of its own so that its peak of memory is its own: the host, or the
 * least that could be done instead, which is a bare server that sends as many bytes, in parts, as fast as they are read.
 */
import { WebSocketServer } from 'ws';
import { loadHost } from '../measure.mjs';

const PART = Buffer.alloc(128 * 2 ** 10, 'x');

const [kind, argument] = process.argv.slice(2);
const port = await (kind === 'host' ? host(argument) : bare(Number(argument)));
const work = longestWork();
process.on('message', () => process.send({ peakBytes: process.resourceUsage().maxRSS * 1024, workMs: work() }));
process.send({ port });

/** The most CPU time that passed between two turns of the event loop: unlike a ping, no other process adds to it. */
function longestWork() {
  let longest = 0;
  let before = process.cpuUsage();
  setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    before = process.cpuUsage();
  }, 1).unref();
  return () => longest;
}

async function host(dataDir) {
  const { createHost, openSqliteLog, scriptedAgent, startServer } = await loadHost();
  const agent = scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts: {}, default: [{ text: 'ok' }] });
  const running = await createHost({ log: await openSqliteLog({ dataDir }), agents: [agent] });
  const server = await startServer({
    host: '127.0.0.1',
    policy: {},
    onConnection: (transport) => running.connect(transport),
  });
  return server.port;
}

function bare(bytes) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  server.on('connection', (socket) => {
    socket.on('message', async (data) => {
      const { id, method } = JSON.parse(data);
      if (method !== 'subscribe') return socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: null }));
      for (let sent = 0; sent < bytes; sent += PART.length) {
        await new Promise((resolve) => socket.send(PART, { fin: sent + PART.length >= bytes, binary: false }, resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
  });
  return new Promise((resolve) => server.on('listening', () => resolve(server.address().port)));
}
