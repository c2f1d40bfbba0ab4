/** A client in this process that hands out answers as text: nothing is parsed that a benchmark does not want parsed. */
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { loadHost } from '../measure.mjs';

const ROOT = 'ahp-root://';

export class InProcessClient {
  #waiting = new Map();
  #nextId = 1;
  #nextSeq = 1;
  /** Called with the text of everything that is not an answer. */
  onnotification = () => {};

  /** Connects, and shakes hands. */
  static async open(host, clientId = 'bench') {
    const client = await InProcessClient.connect(host);
    await client.initialize(clientId);
    return client;
  }

  static async connect(host) {
    const { transportPair } = await loadHost();
    return new InProcessClient(host, transportPair());
  }

  constructor(host, [transport, end]) {
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
    return this.ask('initialize', { channel: ROOT, protocolVersions: ['1.0.0'], clientId });
  }

  /** Creates a session, and subscribes to it and to its chat. */
  async createSession(session, more = {}) {
    await this.ask('createSession', { channel: session, ...more });
    await this.ask('subscribe', { channel: session });
    await this.ask('subscribe', { channel: defaultChatUri(session) });
  }

  startTurn(session, turnId = 'turn') {
    const message = { text: 'go', origin: { kind: 'user' } };
    const action = { type: 'chat/turnStarted', turnId, startedAt: new Date().toISOString(), message };
    const params = { channel: defaultChatUri(session), clientSeq: this.#nextSeq++, action };
    this.end.send(JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params }));
  }
}
