/** A provider in the hands of a test: sends what it is told to and keeps every frame it gets. */

import { type ClientEnd, transportPair } from '@atrium/core/wire/transports/in-process.js';
import type {
  ToGatewayMessage,
  ToProviderMessage,
  ToProviderMessageMap,
  ToProviderMessageType,
} from '@atrium/protocol/provider';
import { checkToProvider, describeProblem } from '@atrium/protocol/validation';
import type { TestHost } from './test-host.js';

/** What opens something: a token of any kind. */
const SECRET = /(ptk|ext-tok|tok)-[\da-f]{20,}/;

export class TestProvider {
  readonly received: ToProviderMessage[] = [];
  closed: { code: number; reason: string } | undefined;
  /** A silent provider lets the end of its session wait until the time is up. */
  isSilent = false;
  readonly #end: ClientEnd;
  readonly #watchers = new Set<() => void>();
  #read = 0;

  private constructor(end: ClientEnd) {
    this.#end = end;
    end.onmessage = (text) => this.#got(JSON.parse(text));
    end.onclose = (code, reason) => {
      this.closed = { code, reason };
      this.#wake();
    };
  }

  /** In-process providers are trusted; those of the network have to be let in. */
  static connect({ host }: TestHost, origin: 'in-process' | 'network' = 'in-process'): TestProvider {
    const [transport, end] = transportPair();
    const provider = new TestProvider(end);
    host.connectProvider(transport, origin);
    return provider;
  }

  /** On a line that is open already, such as a socket. */
  static on(end: ClientEnd): TestProvider {
    return new TestProvider(end);
  }

  /** Connected in this process and bound. */
  static async bound(host: TestHost, hello: object = {}): Promise<TestProvider> {
    const provider = TestProvider.connect(host);
    await provider.hello(hello);
    return provider;
  }

  send(message: ToGatewayMessage | object): void {
    this.#end.send(JSON.stringify(message));
  }

  sendText(text: string): void {
    this.#end.send(text);
  }

  async hello(hello: object = {}): Promise<ToProviderMessageMap['hello.ack']> {
    this.send({ type: 'hello', name: 'ci', protocolVersion: 2, ...hello });
    return this.next('hello.ack');
  }

  /** The next frame of this type that no earlier call has taken; frames before it count as read. */
  async next<Type extends ToProviderMessageType>(type: Type): Promise<ToProviderMessageMap[Type]> {
    for (;;) {
      for (; this.#read < this.received.length; ) {
        const message = this.received[this.#read++];
        if (message?.type === type) return message as ToProviderMessageMap[Type];
      }
      if (this.closed) throw new Error(`closed (${this.closed.code} ${this.closed.reason}) before ${type} came`);
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  of<Type extends ToProviderMessageType>(type: Type): ToProviderMessageMap[Type][] {
    return this.received.filter((message) => message.type === type) as ToProviderMessageMap[Type][];
  }

  async untilClosed(): Promise<{ code: number; reason: string }> {
    while (!this.closed) await new Promise<void>((resolve) => this.#watchers.add(resolve));
    return this.closed;
  }

  /** The line is cut, without a word. */
  drop(): void {
    this.#end.close();
  }

  /** Everything the gateway ever says is held against its own contract. */
  #got(message: ToProviderMessage): void {
    const checked = checkToProvider(message);
    if (!checked.ok) throw new Error(`the gateway sent a bad ${message.type}: ${describeProblem(checked.problem)}`);
    if (message.type === 'error' && SECRET.test(JSON.stringify(message)))
      throw new Error(`the gateway told a secret: ${message.message}`);
    this.received.push(message);
    const isEnding = message.type === 'session.lifecycle' && message.state === 'shutdown.pending';
    if (isEnding && !this.isSilent) this.send({ type: 'shutdown.ready', sessionId: message.sessionId });
    this.#wake();
  }

  #wake(): void {
    for (const watcher of this.#watchers) watcher();
    this.#watchers.clear();
  }
}
