/**
 * The clients of a fan-out, in a process of their own. Each one checks that every token comes once and in order; one that
 * is lost or comes twice ends the benchmark.
 */
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { EventSocket } from './event-socket.mjs';
import { answer, fail } from './helper.mjs';
import { RawSocket } from './raw-socket.mjs';
import { readToken, TOKEN_MARK } from './tokens.mjs';

const ROOT = 'ahp-root://';
/** Versions in which a session and its conversation are one channel. */
const WITHOUT_CHATS = new Set(['0.3.0', '0.2.0']);
/** The time of arrival is noted for every so many tokens. */
const NOTED_EVERY = 10;

const sockets = [];
let behind = 0;
let target = 0;
let whenAll = () => {};
let arrivals = [];
/** When the first token of this slice came to the first client. */
let firstAt;
/** What all clients have read in this slice. */
let bytes = 0;

answer({ join, expect, arrived, close });

/** How clients come to the token stream of each kind of server. */
const JOINED = {
  async ahp({ port, session, dialect, index }) {
    const socket = await RawSocket.open(port);
    const clientId = `receiver-${index}-${process.pid}`;
    if (dialect === '1') {
      await socket.ask(1, 'initialize', { protocolVersion: 1, clientId });
      await socket.ask(2, 'subscribe', { resource: session.replace('ahp-session', 'bench') });
      return socket;
    }
    await socket.ask(1, 'initialize', { channel: ROOT, protocolVersions: [dialect], clientId });
    await socket.ask(2, 'subscribe', { channel: session });
    if (!WITHOUT_CHATS.has(dialect)) await socket.ask(3, 'subscribe', { channel: defaultChatUri(session) });
    return socket;
  },
  bare: ({ port, session }) => RawSocket.open(port, `/${encodeURIComponent(session)}`),
  async 'socket.io'({ port, session }) {
    const socket = await RawSocket.open(
      port,
      `/socket.io/?EIO=4&transport=websocket&session=${encodeURIComponent(session)}`,
    );
    await first(socket, (text) => text.startsWith('0'));
    socket.send('40');
    await first(socket, (text) => text.startsWith('40'));
    return socket;
  },
  async hocuspocus({ port, session }) {
    const socket = await RawSocket.open(port);
    // The name of the document, "authentication", "a token", and an empty token.
    const name = Buffer.from(session);
    socket.send(Buffer.concat([Buffer.from([name.length]), name, Buffer.from([2, 0, 0])]));
    await first(socket, () => true);
    return socket;
  },
  /** An event stream; only its deltas count, for other events repeat the whole text. */
  opencode: ({ port }) => EventSocket.open(port, '/event', '"message.part.delta"'),
};

function first(socket, isIt) {
  return new Promise((resolve) => {
    socket.onmessage = (payload) => isIt(payload.toString('latin1')) && resolve();
  });
}

/** Connects `count` clients, spread over the sessions and the dialects. */
async function join({ kind, port, count, sessions, dialects = ['1.0.0'] }) {
  for (let index = 0; index < count; index++) {
    const session = sessions[index % sessions.length];
    const dialect = dialects[Math.floor(index / sessions.length) % dialects.length];
    const socket = await JOINED[kind]({ port, session, dialect, index });
    const reader = { last: 0 };
    socket.onmessage = (payload) => take(reader, socket, payload);
    socket.onclose = () => fail(`the server closed client ${index}`);
    sockets.push(socket);
  }
}

function take(reader, socket, payload) {
  bytes += payload.length;
  // A socket.io server asks whether the client is alive.
  if (payload.length === 1 && payload[0] === 0x32) return socket.send('3');
  for (let at = payload.indexOf(TOKEN_MARK); at >= 0; at = payload.indexOf(TOKEN_MARK, at + 1)) {
    const token = readToken(payload, at);
    if (token === undefined) continue;
    if (token !== reader.last + 1) fail(`token ${token} came after ${reader.last}: a token was lost or came twice`);
    reader.last = token;
    firstAt ??= process.hrtime.bigint();
    if (token % NOTED_EVERY === 0) arrivals.push(token, process.hrtime.bigint());
    if (token === target && --behind === 0) whenAll();
    if (token > target) fail(`token ${token} came, though only ${target} were sent`);
  }
}

/** From now on the last token is this one. */
function expect({ last }) {
  target = last;
  behind = sockets.length;
  arrivals = [];
  firstAt = undefined;
  bytes = 0;
}

/** When everyone has the last token: how long the noted ones took, in milliseconds. `sent`: when each left, in nanoseconds. */
async function arrived({ sent, from }) {
  if (behind > 0) {
    await new Promise((resolve) => {
      whenAll = resolve;
    });
  }
  if (sent.length === 0) return { firstAt: firstAt.toString(), bytes };
  const delays = [];
  for (let index = 0; index < arrivals.length; index += 2) {
    delays.push(Number(arrivals[index + 1] - BigInt(sent[arrivals[index] - from])) / 1e6);
  }
  delays.sort((a, b) => a - b);
  const at = (share) => delays[Math.floor(delays.length * share)] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

function close() {
  for (const socket of sockets) socket.close();
}
