/** A client of the host under test: sends messages, keeps everything it receives, and waits for expected messages. */

import { transportPair } from '@atrium/core/wire/transports/in-process.js';
import { ROOT_CHANNEL, type SessionState, type StateAction } from '@atrium/protocol';
import type { Host } from '../host-options.js';

export type Action = StateAction | SeenAction;
export type SeenAction = Readonly<Record<string, unknown>> & { readonly type: string };

interface Message {
  readonly id?: number;
  readonly result?: { readonly snapshot?: { readonly state: SessionState } };
  readonly error?: { readonly message: string };
  readonly params?: { readonly action?: SeenAction };
}

export class TestClient {
  readonly #received: Message[] = [];
  readonly #send: (message: object) => void;
  readonly #waiting = new Set<() => void>();
  #numbers = 0;

  private constructor(
    host: Host,
    private readonly waitMaxMs: number,
  ) {
    const [transport, line] = transportPair();
    line.onmessage = (text) => {
      this.#received.push(JSON.parse(text));
      for (const look of this.#waiting) look();
    };
    this.#send = (message) => line.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
    host.connect(transport);
  }

  static async join(host: Host, waitMaxMs: number): Promise<TestClient> {
    const client = new TestClient(host, waitMaxMs);
    const hello = { protocolVersions: ['0.3.0'], clientId: `person-${crypto.randomUUID()}` };
    await client.request('initialize', { channel: ROOT_CHANNEL, ...hello });
    return client;
  }

  /** Every received action, in order. */
  get actions(): readonly SeenAction[] {
    return this.#received.flatMap(({ params }) => params?.action ?? []);
  }

  dispatch(channel: string, action: Action): void {
    this.#send({ method: 'dispatchAction', params: { channel, clientSeq: ++this.#numbers, action } });
  }

  async request(method: string, params: object): Promise<Message> {
    const id = ++this.#numbers;
    this.#send({ id, method, params });
    const answer = await this.#until((message) => (message.id === id ? message : undefined));
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer;
  }

  /** Waits for an action, past or future. */
  action(test: (action: SeenAction) => boolean): Promise<SeenAction> {
    return this.#until(({ params }) => (params?.action && test(params.action) ? params.action : undefined));
  }

  /** Examines every message once: those received so far, and then each new one. */
  #until<T>(find: (message: Message) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      let next = 0;
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const look = () => {
        for (const message of this.#received.slice(next)) {
          next += 1;
          const found = find(message);
          if (found === undefined) continue;
          end();
          return resolve(found);
        }
      };
      const giveUp = () => {
        end();
        reject(new Error(`waited in vain; came: ${this.#summary()}`));
      };
      const timer = setTimeout(giveUp, this.waitMaxMs);
      this.#waiting.add(look);
      look();
    });
  }

  /** For the message of a failed test: what was received, with errors in full. */
  #summary(): string {
    return this.actions.map((action) => ('error' in action ? JSON.stringify(action) : action.type)).join(', ');
  }
}
