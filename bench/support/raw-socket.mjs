/** The least WebSocket client that can be: many of them in one process cost little beside the server that is measured. */
import { once } from 'node:events';
import { connect } from 'node:net';

const PING = 9;
const PONG = 10;
const CLOSE = 8;
const TEXT = 1;
const BINARY = 2;

export class RawSocket {
  #socket;
  #unread = Buffer.alloc(0);
  #parts = [];
  /** Called with the payload of every message, which is valid only during the call. */
  onmessage = () => {};
  /** Called when the server closes the connection. */
  onclose = () => {};

  static async open(port, path = '/') {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n',
    );
    const raw = new RawSocket(socket);
    await raw.#handshake();
    return raw;
  }

  constructor(socket) {
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('close', () => this.onclose());
  }

  async #handshake() {
    let head = Buffer.alloc(0);
    let end = -1;
    while (end < 0) {
      const [chunk] = await once(this.#socket, 'data');
      head = Buffer.concat([head, chunk]);
      end = head.indexOf('\r\n\r\n');
    }
    if (!head.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(head.toString('latin1'));
    this.#socket.on('data', (chunk) => this.#read(chunk));
    // What came with the handshake is read when the caller has had time to listen.
    setImmediate(() => this.#read(head.subarray(end + 4)));
  }

  send(data) {
    if (typeof data === 'string') this.#write(TEXT, Buffer.from(data));
    else this.#write(BINARY, data);
  }

  /** Sends a request and waits for the answer with its number; nobody else listens meanwhile. */
  async ask(id, method, params) {
    this.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    const start = `{"jsonrpc":"2.0","id":${id},`;
    const text = await new Promise((resolve) => {
      this.onmessage = (payload) => {
        if (payload.latin1Slice(0, start.length) === start) resolve(payload.toString());
      };
    });
    this.onmessage = () => {};
    const { error, result } = JSON.parse(text);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** Stops reading: from now on the server's messages fill the buffers of the system, and then its own. */
  stall() {
    this.#socket.pause();
  }

  goOn() {
    this.#socket.resume();
  }

  close() {
    this.onclose = () => {};
    this.#socket.destroy();
  }

  #write(opcode, data) {
    const mask = [0, 0, 0, 0];
    const length =
      data.length < 126 ? [0x80 | data.length] : [0x80 | 126, (data.length >> 8) & 0xff, data.length & 0xff];
    if (data.length > 0xffff) throw new Error('messages of this client are short');
    this.#socket.write(Buffer.concat([Buffer.from([0x80 | opcode, ...length, ...mask]), data]));
  }

  #read(chunk) {
    let bytes = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk]);
    for (;;) {
      const frame = frameIn(bytes);
      if (!frame) break;
      this.#take(frame, bytes.subarray(frame.start, frame.end));
      bytes = bytes.subarray(frame.end);
    }
    this.#unread = bytes;
  }

  #take({ opcode, isLast }, payload) {
    if (opcode === PING) return this.#write(PONG, payload);
    if (opcode === PONG || opcode === CLOSE) return;
    if (isLast && this.#parts.length === 0) return this.onmessage(payload);
    this.#parts.push(Buffer.from(payload));
    if (!isLast) return;
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.onmessage(whole);
  }
}

/** Where the first frame begins and ends, if all of it is there. */
function frameIn(bytes) {
  if (bytes.length < 2) return undefined;
  const short = bytes[1] & 0x7f;
  const start = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < start) return undefined;
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (bytes.length < start + length) return undefined;
  return { opcode: bytes[0] & 0x0f, isLast: (bytes[0] & 0x80) !== 0, start, end: start + length };
}
