/** The least reader of server-sent events: it hands out the lines of those that hold a certain text. */
import { get } from 'node:http';

export class EventSocket {
  #request;
  #unread = Buffer.alloc(0);
  #wanted;
  onmessage = () => {};
  onclose = () => {};

  static async open(port, path, wanted) {
    const request = get({ host: '127.0.0.1', port, path, agent: false });
    const response = await new Promise((resolve, reject) => request.once('response', resolve).once('error', reject));
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`);
    return new EventSocket(request, response, wanted);
  }

  constructor(request, response, wanted) {
    this.#request = request;
    this.#wanted = wanted;
    request.on('error', () => {});
    response.on('data', (chunk) => this.#read(chunk));
    response.on('close', () => this.onclose());
    response.on('error', () => {});
  }

  send() {}

  close() {
    this.onclose = () => {};
    this.#request.destroy();
  }

  #read(chunk) {
    let bytes = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk]);
    for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n')) {
      const line = bytes.subarray(0, end);
      if (line.includes(this.#wanted)) this.onmessage(line);
      bytes = bytes.subarray(end + 1);
    }
    this.#unread = bytes;
  }
}
