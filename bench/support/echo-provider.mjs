/** A provider with one tool, in a process of its own: it reads a call and writes a result. */
import { WebSocket } from 'ws';
import { answer, fail } from './helper.mjs';

answer({ connect });

const DATA = { text: 'a few words to carry back and forth', lines: [1, 2, 3] };

/** Resolves when the gateway has let it in; without `hello`, when the socket is open. */
async function connect({ port, hello }) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  socket.once('error', (error) => fail(error.message));
  await new Promise((resolve) => socket.once('open', resolve));
  const bound = new Promise((resolve) => {
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString());
      if (message.type === 'hello.ack') resolve();
      if (message.type !== 'tool.call') return;
      socket.send(JSON.stringify({ type: 'tool.result', id: message.id, data: DATA }));
    });
  });
  if (!hello) return;
  socket.send(JSON.stringify(hello));
  await bound;
}
