/**
 * As many providers as a gateway lets in, each with as many tools as it may have, all bound to one session: what that
 * costs, and how fast their pushes are taken in.
 */
import { WebSocket } from 'ws';
import { load, loadHost, size } from '../measure.mjs';
import { InProcessClient } from './in-process-client.mjs';

const PROVIDERS = size(50, 3);
const TOOLS = size(100, 2);
/** More in a second would be turned away. */
const PUSHES_EACH = 10;

export async function measureCrowd() {
  const { createHost, MemoryLog, offlineAgent } = await loadHost();
  const { startGatewayServer } = await load('host/dist/gateway/gateway-server.js');
  const host = await createHost({ log: new MemoryLog(), agents: [offlineAgent()] });
  const client = await InProcessClient.open(host);
  await client.createSession('ahp-session:/bench');
  const onConnection = (transport) => host.connectProvider(transport, 'in-process');
  const server = await startGatewayServer({ port: 0, onConnection });
  const before = process.cpuUsage();
  const sockets = [];
  for (let index = 0; index < PROVIDERS; index++) sockets.push(await bound(server.port, index));
  const { user, system } = process.cpuUsage(before);
  const pushMs = await pushAll(sockets);
  for (const socket of sockets) socket.terminate();
  await server.close();
  await host.stop();
  return { bindCpu: user + system, pushesPerSecond: (PROVIDERS * PUSHES_EACH * 1_000) / pushMs };
}

async function bound(port, index) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const tools = Array.from({ length: TOOLS }, (_, tool) => ({
    name: `p${index}_tool${tool}`,
    description: 'Says what it was told.',
    parameters: { type: 'object', properties: { text: { type: 'string' } } },
  }));
  const name = `bench-${index}`;
  await answered(socket, 'hello.ack', { type: 'hello', name, protocolVersion: 2, tools });
  return socket;
}

/** Behind its pushes each provider asks for its stream: the answer says that they have been taken in, and how many. */
async function pushAll(sockets) {
  const start = performance.now();
  const kept = await Promise.all(
    sockets.map((socket) => {
      for (let push = 0; push < PUSHES_EACH; push++) {
        socket.send(JSON.stringify({ type: 'push', level: 'keep', stream: 'news', event: `event ${push}` }));
      }
      return answered(socket, 'stream.history', {
        type: 'stream.query',
        queryId: 'q',
        streams: ['news'],
        last: PUSHES_EACH,
      });
    }),
  );
  const milliseconds = performance.now() - start;
  if (kept.some(({ streams }) => Object.values(streams)[0]?.length !== PUSHES_EACH))
    throw new Error('some pushes were not taken in');
  return milliseconds;
}

function answered(socket, type, message) {
  return new Promise((resolve, reject) => {
    const listen = (data) => {
      const answer = JSON.parse(data.toString());
      if (answer.type === 'error') reject(new Error(answer.message));
      if (answer.type !== type) return;
      socket.off('message', listen);
      resolve(answer);
    };
    socket.on('message', listen);
    socket.send(JSON.stringify(message));
  });
}
