/**
 * The side of a large snapshot that reads, in a process of its own: clients that count the bytes of messages and forget
 * them, so that what is measured is the host. Told over IPC what to ask; answers when every client has its answer.
 */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

const ROOT = 'ahp-root://';
const HELLO = {
  '0.3.0': (clientId) => ({ channel: ROOT, protocolVersions: ['0.3.0'], clientId }),
  '0.2.0': (clientId) => ({ channel: ROOT, protocolVersions: ['0.2.0'], clientId }),
  1: (clientId) => ({ protocolVersion: 1, clientId }),
};

/** What is asked before the clock starts, and what the snapshot answers. */
const ASKED = {
  async subscribe(reader, { dialect, session, clientId }) {
    await reader.ask('initialize', HELLO[dialect](clientId));
    const target = dialect === '1' ? { resource: session.replace('ahp-session', 'mock') } : { channel: session };
    return () => reader.ask('subscribe', target);
  },
  async initialize(reader, { dialect, session, clientId }) {
    return () => reader.ask('initialize', { ...HELLO[dialect](clientId), initialSubscriptions: [session] });
  },
  async reconnect(reader, { dialect, session, clientId, port }) {
    const earlier = await Reader.open(port);
    await earlier.ask('initialize', HELLO[dialect](clientId));
    earlier.close();
    // A number that the host has not reached: it cannot replay and answers with snapshots.
    const params = { channel: ROOT, clientId, lastSeenServerSeq: 1e12, subscriptions: [session] };
    return () => reader.ask('reconnect', params);
  },
};

process.on('message', async ({ port, count, method, dialect, session }) => {
  const readers = await Promise.all(Array.from({ length: count }, () => Reader.open(port)));
  const asks = await Promise.all(
    readers.map((reader, index) =>
      ASKED[method](reader, { dialect, session, port, clientId: `reader-${process.pid}-${index}` }),
    ),
  );
  const start = performance.now();
  const bytes = await Promise.all(asks.map((ask) => ask()));
  process.send({ bytes, milliseconds: performance.now() - start });
  for (const reader of readers) reader.close();
});

/** A WebSocket that keeps nothing of what it reads but the beginning of each message. */
class Reader {
  #socket;
  #head = Buffer.alloc(0);
  #left = 0;
  #isLast = false;
  #isControl = false;
  #message = { bytes: 0, start: '' };
  #answered = () => {};

  static async open(port) {
    const socket = connect(port, '127.0.0.1');
    const key = randomBytes(16).toString('base64');
    socket.write(
      `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
    const answer = await new Promise((resolve, reject) => socket.once('data', resolve).once('error', reject));
    if (!answer.toString().startsWith('HTTP/1.1 101')) throw new Error(answer.toString());
    return new Reader(socket);
  }

  constructor(socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', () => {});
  }

  ask(method, params) {
    const text = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    const header = Buffer.from([0x81, 0x80 | 126, text.length >> 8, text.length & 0xff, 0, 0, 0, 0]);
    this.#socket.write(Buffer.concat([header, text]));
    return new Promise((resolve) => {
      this.#answered = resolve;
    });
  }

  close() {
    this.#socket.destroy();
  }

  #read(chunk) {
    for (let rest = chunk; rest.length > 0; ) rest = this.#left > 0 ? this.#payload(rest) : this.#header(rest);
  }

  #payload(bytes) {
    const taken = bytes.subarray(0, this.#left);
    this.#left -= taken.length;
    if (!this.#isControl) {
      this.#message.bytes += taken.length;
      if (this.#message.start.length < 200) this.#message.start += taken.subarray(0, 200).toString('latin1');
      if (this.#left === 0 && this.#isLast) this.#ended();
    }
    return bytes.subarray(taken.length);
  }

  #header(bytes) {
    const head = Buffer.concat([this.#head, bytes]);
    const size = headerBytes(head);
    if (head.length < size) {
      this.#head = head;
      return head.subarray(head.length);
    }
    this.#head = Buffer.alloc(0);
    this.#isControl = (head[0] & 0x08) !== 0;
    if (!this.#isControl) this.#isLast = (head[0] & 0x80) !== 0;
    this.#left = size === 2 ? head[1] & 0x7f : size === 4 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2));
    return head.subarray(size);
  }

  #ended() {
    const { bytes, start } = this.#message;
    this.#message = { bytes: 0, start: '' };
    if (start.startsWith('{"jsonrpc":"2.0","id":1,"error"')) throw new Error(start);
    // What is not an answer (an action, a notification) does not count.
    if (start.startsWith('{"jsonrpc":"2.0","id":1,') || start.startsWith('xxx')) this.#answered(bytes);
  }
}

function headerBytes(head) {
  if (head.length < 2) return 2;
  const length = head[1] & 0x7f;
  return length < 126 ? 2 : length === 126 ? 4 : 10;
}
