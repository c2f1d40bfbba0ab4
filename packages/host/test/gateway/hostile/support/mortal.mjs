/**
 * A provider that dies in the middle of something, without a word. Usage: mortal <JSON with port, token, hello, dieAt>.
 * `dieAt` is the type of a message from the gateway, or `hello`, or `half a result`.
 */
import WebSocket from 'ws';

const { port, token, hello, dieAt } = JSON.parse(process.argv[2]);
const socket = new WebSocket(`ws://127.0.0.1:${port}`);
const send = (message) => socket.send(JSON.stringify(message));
const die = () => process.kill(process.pid, 'SIGKILL');

socket.on('open', () => send({ type: 'auth', token }));
socket.on('message', (data) => {
  const message = JSON.parse(data.toString());
  if (message.type === dieAt || message.state === dieAt) die();
  if (message.type === 'sessions') {
    send({ type: 'hello', protocolVersion: 2, ...hello });
    if (dieAt === 'hello') setImmediate(die);
  }
  if (message.type === 'gate.check') {
    const { callId, gateId } = message;
    send({ type: 'gate.result', callId, gateId, decision: 'allow' });
  }
  // The head of a frame of a thousand bytes, and none of them.
  if (message.type === 'tool.call' && dieAt === 'half a result')
    socket._socket.write(Buffer.from([0x81, 0xfe, 0x03, 0xe8, 1, 2, 3, 4]), die);
});
