/**
 * Servers that bring tokens of sessions to those who watch them: Atrium, the least that could be done, and what others
 * would take. Each gives its `port` and `say(session, number)`; the sessions are counted from 0.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadHost } from '../measure.mjs';
import { RawSocket } from './raw-socket.mjs';
import { tokenText } from './tokens.mjs';

export function sessionsOf(count) {
  return Array.from({ length: count }, (_, index) => `ahp-session:/bench-${index}`);
}

/** A host with a log on the disk and a port, whose agents say what this process tells them. */
export async function atriumServer({ sessions, joinText }) {
  const { createHost, openSqliteLog, startServer } = await loadHost();
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const { agent, started } = spokenAgent(sessions);
  const log = await openSqliteLog({ dataDir });
  const host = await createHost({ log, agents: [agent], ...(joinText !== undefined && { joinText }) });
  const onConnection = (transport) => host.connect(transport);
  const server = await startServer({ host: '127.0.0.1', policy: {}, onConnection });
  const driver = await RawSocket.open(server.port);
  const root = { channel: 'ahp-root://', protocolVersions: ['0.3.0'], clientId: 'driver' };
  await driver.ask(1, 'initialize', root);
  const turns = [];
  for (let index = 0; index < sessions; index++) {
    const session = sessionsOf(sessions)[index];
    await driver.ask(index + 2, 'createSession', { channel: session });
    const action = { type: 'session/turnStarted', turnId: 'turn', userMessage: { text: 'go' } };
    const params = { channel: session, clientSeq: index + 1, action };
    driver.send(JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params }));
    turns.push(await started[index]);
  }
  return {
    kind: 'ahp',
    port: server.port,
    say: (session, number) => turns[session].text(tokenText(number)),
    message: (session, number) => actionOf(sessionsOf(sessions)[session], number),
    async close() {
      driver.close();
      await host.stop();
      await server.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

/** An agent whose turns are in our hands, one for each session, in the order in which they start. */
function spokenAgent(sessions) {
  const begun = [];
  const started = Array.from({ length: sessions }, () => new Promise((resolve) => begun.push(resolve)));
  const runTurn = (turn) => {
    turn.text('');
    begun.shift()(turn);
    return new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
  };
  const agent = {
    info: { provider: 'bench', displayName: 'Bench', description: 'Streams.', models: [] },
    abilities: { tools: 'live', toolIntent: 'all', render: 'none', steer: false, cancelTool: false },
    sections: {},
    open: async () => ({ runTurn, close: async () => {} }),
  };
  return { agent, started };
}

/** What an AHP host would send for a token. */
function actionOf(session, number) {
  const channel = `ahp-chat://default/${Buffer.from(session).toString('base64url')}`;
  const action = { type: 'chat/delta', turnId: 'turn', partId: 'turn-1', content: tokenText(number) };
  return { jsonrpc: '2.0', method: 'action', params: { channel, action, serverSeq: number + 1_000 } };
}

/** Bare `ws`: every token is written and framed once, and the frame goes to the sockets as it is. */
export function preparedServer(options) {
  return bareServer(options, (clients, message) => {
    const frame = framed(Buffer.from(JSON.stringify(message)));
    for (const { stream } of clients) stream.write(frame);
  });
}

/** Bare `ws` as most people use it. */
export function stringServer(options) {
  return bareServer(options, (clients, message) => {
    const text = JSON.stringify(message);
    for (const { socket } of clients) socket.send(text);
  });
}

function framed(payload) {
  if (payload.length > 0xffff) throw new Error('a token is short');
  const { length } = payload;
  const header = length < 126 ? [0x81, length] : [0x81, 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), payload]);
}

async function bareServer({ sessions }, send) {
  const { WebSocketServer } = await import('ws');
  const places = sessionsOf(sessions);
  const clients = places.map(() => []);
  const http = createServer();
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  server.on('connection', (socket, request) => {
    const session = decodeURIComponent(request.url.slice(1));
    clients[places.indexOf(session)].push({ socket, stream: request.socket });
  });
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    kind: 'bare',
    port: http.address().port,
    say: (session, number) => send(clients[session], actionOf(places[session], number)),
    close: () => {},
  };
}

/** socket.io with a room for each session. */
export async function socketIoServer({ sessions }) {
  const { Server } = await import('socket.io');
  const places = sessionsOf(sessions);
  const http = createServer();
  const io = new Server(http, { transports: ['websocket'], serveClient: false });
  io.on('connection', (socket) => socket.join(socket.handshake.query.session));
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    kind: 'socket.io',
    port: http.address().port,
    say: (session, number) => io.to(places[session]).emit('action', actionOf(places[session], number)),
    close: () => {},
  };
}

/** Hocuspocus with a document for each session, without storing anything. */
export async function hocuspocusServer({ sessions }) {
  const { Server } = await import('@hocuspocus/server');
  const places = sessionsOf(sessions);
  const server = new Server({ port: 0, address: '127.0.0.1', quiet: true, stopOnSignals: false });
  await server.listen();
  const texts = [];
  for (const session of places) {
    const { document } = await server.hocuspocus.openDirectConnection(session);
    texts.push(document.getText('answer'));
  }
  return {
    kind: 'hocuspocus',
    port: server.address.port,
    say: (session, number) => texts[session].insert(texts[session].length, tokenText(number)),
    close: () => {},
  };
}
