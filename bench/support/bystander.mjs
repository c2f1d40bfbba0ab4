import { WebSocket } from 'ws';

const PING_EVERY_MS = 5;

/** A client that only pings. */
export class Bystander {
  #socket;
  #answered = () => {};

  static async open(port) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const bystander = new Bystander(socket);
    await bystander.#ask('initialize', {
      channel: 'ahp-root://',
      protocolVersions: ['0.3.0'],
      clientId: `bystander-${Math.random()}`,
    });
    return bystander;
  }

  constructor(socket) {
    this.#socket = socket;
    socket.on('message', (data) => 'id' in JSON.parse(data) && this.#answered());
  }

  /** Pings until the returned function is called, which tells the longest that one took. */
  worst() {
    let isOver = false;
    const pinging = (async () => {
      let longest = 0;
      while (!isOver) {
        const start = performance.now();
        await this.#ask('ping', { channel: 'ahp-root://' });
        longest = Math.max(longest, performance.now() - start);
        await new Promise((resolve) => setTimeout(resolve, PING_EVERY_MS));
      }
      return longest;
    })();
    return () => {
      isOver = true;
      return pinging;
    };
  }

  #ask(method, params) {
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    return new Promise((resolve) => {
      this.#answered = resolve;
    });
  }

  close() {
    this.#socket.terminate();
  }
}
