/** One client with one session: starts turns, and counts the words until they end. */
import { WebSocket } from 'ws';
import { answer, fail } from './helper.mjs';

const SESSION = 'ahp-session:/bench';
const WORD = 'token ';
const calls = new Map();
let socket;
let chat;
let [last, turns, characters] = [0, 0, 0];
let heard = () => {};

answer({
  async connect({ port }) {
    socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.on('message', take);
    await call('initialize', { channel: 'ahp-root://', protocolVersions: ['1.0.0'], clientId: 'bench' });
  },
  async turn() {
    chat ??= await open();
    characters = 0;
    const ended = next();
    const action = {
      type: 'chat/turnStarted',
      turnId: `turn-${++turns}`,
      message: { text: 'go', origin: { kind: 'user' } },
    };
    const asked = Number(process.hrtime.bigint()) / 1e6;
    send({ method: 'dispatchAction', params: { channel: chat, clientSeq: turns, action } });
    const type = await ended;
    if (type !== 'chat/turnComplete') fail(`the turn ended with ${type}`);
    return { tokens: characters / WORD.length, asked };
  },
});

async function open() {
  const ready = next();
  await call('createSession', { channel: SESSION, provider: 'model' });
  const { snapshot } = await call('subscribe', { channel: SESSION });
  const { defaultChat, lifecycle } = snapshot.state;
  await call('subscribe', { channel: defaultChat });
  if (lifecycle === 'creating') await ready;
  return defaultChat;
}

function take(data) {
  const { id, result, error, params } = JSON.parse(data);
  if (error) fail(error.message);
  if (id !== undefined) return calls.get(id)?.(result);
  const { type, content } = params?.action ?? {};
  if (type === 'chat/delta') characters += content.length;
  if (type === 'session/ready' || type === 'chat/turnComplete' || type === 'chat/error') heard(type);
}

function next() {
  return new Promise((resolve) => {
    heard = resolve;
  });
}

function call(method, params) {
  send({ id: ++last, method, params });
  return new Promise((resolve) => calls.set(last, resolve));
}

function send(message) {
  socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
}
