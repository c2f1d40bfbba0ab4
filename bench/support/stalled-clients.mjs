/** Clients that subscribe to a session and then read nothing any more, in a process of their own. */
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { answer } from './helper.mjs';
import { RawSocket } from './raw-socket.mjs';

const sockets = [];

answer({ join, state });

async function join({ port, count, session }) {
  for (let index = 0; index < count; index++) {
    const socket = await RawSocket.open(port);
    const clientId = `stalled-${index}-${process.pid}`;
    await socket.ask(1, 'initialize', { channel: 'ahp-root://', protocolVersions: ['1.0.0'], clientId });
    await socket.ask(2, 'subscribe', { channel: session });
    await socket.ask(3, 'subscribe', { channel: defaultChatUri(session) });
    socket.stall();
    sockets.push(socket);
  }
}

/** A paused socket does not say that it was closed: reading on shows it. */
async function state() {
  let closed = 0;
  for (const socket of sockets) {
    socket.onclose = () => closed++;
    socket.goOn();
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  return { closed };
}
