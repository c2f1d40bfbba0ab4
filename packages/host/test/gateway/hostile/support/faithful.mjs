/**
 * A provider that comes back by itself, as often as it has to. Usage: faithful <JSON with port, tokenFile>. Its token is
 * whatever stands in the file. It says who it has become each time, and which revision its first change has.
 */
import { readFileSync } from 'node:fs';
import WebSocket from 'ws';

const { port, tokenFile } = JSON.parse(process.argv[2]);
const tool = { name: 'work', description: 'Works.', parameters: {} };
let reconnectToken;

function connect() {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  const send = (message) => socket.send(JSON.stringify(message));
  const answers = {
    sessions: () => send({ type: 'hello', name: 'faithful', protocolVersion: 2, tools: [tool], reconnectToken }),
    'hello.ack': (ack) => {
      reconnectToken = ack.reconnectToken;
      console.log(JSON.stringify({ providerId: ack.providerId }));
      send({ type: 'tools.update', requestId: 'r', tools: [tool] });
    },
    ack: ({ revision }) => console.log(JSON.stringify({ revision })),
    'tool.call': ({ id }) => send({ type: 'tool.result', id, data: 'worked' }),
    error: ({ code }) => console.log(JSON.stringify({ code })),
  };
  socket.on('open', () => send({ type: 'auth', token: readFileSync(tokenFile, 'utf8') }));
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString());
    answers[message.type]?.(message);
  });
  socket.on('error', () => {});
  socket.on('close', () => setTimeout(connect, 200));
}

connect();
