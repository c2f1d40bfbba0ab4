/** A client in this process that hands out answers as text: nothing is parsed that a benchmark does not want parsed. */
import { transportPair } from '@atrium/host';

export class InProcessClient {
  #waiting = new Map();
  #nextId = 1;
  /** Called with the text of everything that is not an answer. */
  onnotification = () => {};

  constructor(host) {
    const [transport, end] = transportPair();
    this.end = end;
    end.onmessage = (text) => this.#receive(text);
    end.onclose = () => {};
    host.connect(transport);
  }

  #receive(text) {
    const id = Number(/^\{"jsonrpc":"2\.0","id":(\d+)/.exec(text)?.[1]);
    const resolve = this.#waiting.get(id);
    if (!resolve) return this.onnotification(text);
    this.#waiting.delete(id);
    resolve(text);
  }

  ask(method, params) {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.end.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }

  initialize(clientId) {
    return this.ask('initialize', { channel: 'ahp-root://', protocolVersions: ['0.3.0'], clientId });
  }

  dispatch(channel, clientSeq, action) {
    this.end.send(JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params: { channel, clientSeq, action } }));
  }
}
