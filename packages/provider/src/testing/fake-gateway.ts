/**
 * A gateway for tests of providers, in this process or on a port: it lets the provider in, binds it, and then does what
 * the test says. It checks every message against the contract, in both directions.
 */
import { memoryPair, type Transport, type TransportFactory, transportOver } from '@atrium/link';
import {
  type ConnectionState,
  type GatewayErrorCode,
  type ProviderSessionEntry,
  type ProviderSessionEventMessage,
  SHUTDOWN_DEADLINE_MS,
  type ToGatewayMessage,
  type ToGatewayMessageMap,
  type ToGatewayMessageType,
  type ToolOutcome,
  type ToProviderMessage,
  type ToProviderMessageMap,
} from '@atrium/protocol/provider';
import type { Verdict } from '../hooks.js';
import { FakeConnection, type Refusal } from './fake-connection.js';
import type { FakeCall, FakeSession } from './fake-session.js';

/** Differences of older gateways. */
export interface GatewayHabits {
  /** Updates are acknowledged; true by default. */
  readonly acknowledges?: boolean;
  /** `hello.ack` names the session; true by default. */
  readonly namesSession?: boolean;
  /** `started` is sent after `hello.ack`; true by default. */
  readonly saysStarted?: boolean;
}

export interface FakeGatewayOptions {
  /** The token of a provider that the host has started. */
  readonly token?: string;
  /** The code that a person would read in the session. With neither, the provider is one in the same process. */
  readonly pairingCode?: string;
  readonly sessions?: readonly ProviderSessionEntry[];
  readonly habits?: GatewayHabits;
}

const ONE_SESSION: readonly ProviderSessionEntry[] = [{ id: 'session-1', label: 'A session', cwd: '/project' }];
/** Connections in these states get the list of sessions. */
const ANNOUNCED: ReadonlySet<ConnectionState> = new Set(['AwaitHello', 'Bound', 'Unbound']);
const UPDATES: ReadonlySet<string> = new Set(['tools.update', 'hooks.update', 'context.update', 'filter.set']);

export function fakeGateway(options: FakeGatewayOptions = {}): FakeGateway {
  return new FakeGateway(options);
}

type Args = Readonly<Record<string, unknown>>;
type EventName = ProviderSessionEventMessage['event'];
type EventData<Name extends EventName> = Extract<ProviderSessionEventMessage, { event: Name }>['data'];

export class FakeGateway {
  /** For `connectProvider({ transport: gateway.transport })`. */
  readonly transport: TransportFactory;
  readonly #options: FakeGatewayOptions;
  readonly #transcript = new Transcript();
  readonly #refusals = new Map<ToGatewayMessageType, Refusal>();
  readonly #issued = new Set<string>();
  #sessions: readonly ProviderSessionEntry[];
  #connection: FakeConnection | undefined;
  #revision = 0;

  /** Made by `fakeGateway`. */
  constructor(options: FakeGatewayOptions) {
    this.#options = options;
    this.#sessions = options.sessions ?? ONE_SESSION;
    this.transport = () => {
      const [near, far] = memoryPair();
      this.#accept(far);
      return near;
    };
  }

  /** Everything that the provider has sent and that fits the contract. */
  get received(): readonly ToGatewayMessage[] {
    return this.#transcript.all;
  }

  /** What the provider has registered: its hello, and what updates made of it. Throws when it is not bound. */
  get provider(): FakeSession {
    const session = this.#connection?.session;
    if (!session) throw new Error('No provider is bound: wait for `provider.ready` first.');
    return session;
  }

  /** Waits for a message; each is given out once. */
  next<Type extends ToGatewayMessageType>(type: Type): Promise<ToGatewayMessageMap[Type]> {
    return this.#transcript.next(type);
  }

  /** Calls a tool, as a model would, and waits for its outcome. */
  call(tool: string, args: Args = {}): Promise<ToolOutcome> {
    return this.begin(tool, args).outcome;
  }

  /** Calls a tool and goes on, to look at its progress or to cancel it. */
  begin(tool: string, args: Args = {}): FakeCall {
    return this.provider.begin(tool, args);
  }

  /** The verdict of the provider's rules and gates on a tool call. */
  check(tool: string, args: Args = {}, owner?: string): Promise<Verdict> {
    return this.provider.check(tool, args, owner);
  }

  /** A section of the system prompt after the provider's transforms. */
  transform(section: string, current: string): Promise<string> {
    return this.provider.transform(section, current);
  }

  event<Name extends EventName>(event: Name, data: EventData<Name>): void {
    const { sessionId } = this.provider;
    this.send({ type: 'session.event', sessionId, event, data } as ProviderSessionEventMessage);
  }

  idle(): void {
    this.send({ type: 'session.lifecycle', sessionId: this.provider.sessionId, state: 'idle' });
  }

  startSession(session: ProviderSessionEntry): void {
    this.#sessions = [...this.#sessions, session];
    this.#announce();
  }

  /** Resolves when the provider is ready for it. The token of one that was paired ends with its session. */
  async endSession(sessionId: string): Promise<void> {
    const isBound = this.#connection?.session?.sessionId === sessionId;
    if (isBound) {
      this.#connection?.expire();
      this.send({ type: 'session.lifecycle', sessionId, state: 'shutdown.pending', deadline: SHUTDOWN_DEADLINE_MS });
    }
    this.#sessions = this.#sessions.filter(({ id }) => id !== sessionId);
    this.#announce();
    if (!isBound) return;
    await this.next('shutdown.ready');
    if (this.#connection?.session?.sessionId === sessionId) this.#connection.sessionEnded();
  }

  /** Refuses the next message of this type. */
  refuseNext(type: ToGatewayMessageType, code: GatewayErrorCode, message = 'refused by the test'): void {
    this.#refusals.set(type, { code, message });
  }

  /** Any other message that a gateway may send. */
  send(message: ToProviderMessage): void {
    this.#connection?.send(message);
  }

  /** Breaks the connection without a message. */
  drop(): void {
    this.#connection?.close();
  }

  /** Also accepts connections on a port of this machine. */
  listen(): Promise<Loopback> {
    return listenOnLoopback((transport) => this.#accept(transport));
  }

  #accept(transport: Transport): void {
    this.#connection = new FakeConnection(transport, {
      options: this.#options,
      issued: this.#issued,
      sessions: () => this.#sessions,
      refusalOf: ({ type }) => this.#refusalOf(type),
      heard: (message) => this.#transcript.add(message),
      took: (message, connection) => this.#took(message, connection),
      ended: (connection) => {
        if (this.#connection === connection) this.#connection = undefined;
      },
    });
  }

  #refusalOf(type: ToGatewayMessageType): Refusal | undefined {
    const refusal = this.#refusals.get(type);
    this.#refusals.delete(type);
    return refusal;
  }

  #took(message: ToGatewayMessage, connection: FakeConnection): void {
    const { acknowledges = true } = this.#options.habits ?? {};
    if (message.type === 'stream.query')
      connection.send(historyOf(message, this.#transcript.of('push'), this.provider.hello.name));
    if (!isUpdate(message) || !acknowledges || !connection.session) return;
    const { requestId, sessionId = connection.session.sessionId } = message;
    this.#revision += 1;
    connection.send({
      type: 'ack',
      sessionId,
      revision: this.#revision,
      ...(requestId !== undefined && { requestId }),
    });
  }

  #announce(): void {
    if (this.#connection && ANNOUNCED.has(this.#connection.state))
      this.send({ type: 'sessions.updated', active: [...this.#sessions] });
  }
}

function isUpdate(message: ToGatewayMessage): message is Extract<ToGatewayMessage, { requestId?: string }> {
  return UPDATES.has(message.type);
}

/** Longer than any test should have to wait. */
const NEXT_TIMEOUT_MS = 5_000;

/** Every message of the provider in order, for a test to look at or to wait for. */
class Transcript {
  readonly all: ToGatewayMessage[] = [];
  readonly #taken = new Set<ToGatewayMessage>();
  readonly #watchers = new Set<() => void>();

  add(message: ToGatewayMessage): void {
    this.all.push(message);
    for (const look of [...this.#watchers]) look();
  }

  of<Type extends ToGatewayMessageType>(type: Type): ToGatewayMessageMap[Type][] {
    return this.all.filter((message) => message.type === type) as ToGatewayMessageMap[Type][];
  }

  /** The first message of this type that no earlier `next` returned, past or future. */
  next<Type extends ToGatewayMessageType>(type: Type): Promise<ToGatewayMessageMap[Type]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#watchers.delete(look);
        const seen = this.all.map((message) => message.type).join(', ') || 'nothing';
        reject(new Error(`no ${type} came in ${NEXT_TIMEOUT_MS / 1_000} s; what came: ${seen}`));
      }, NEXT_TIMEOUT_MS);
      const look = () => {
        const found = this.of(type).find((message) => !this.#taken.has(message));
        if (!found) return;
        clearTimeout(timer);
        this.#watchers.delete(look);
        this.#taken.add(found);
        resolve(found);
      };
      this.#watchers.add(look);
      look();
    });
  }
}

export interface Loopback {
  readonly url: string;
  close(): Promise<void>;
}

/** Accepts providers of other processes on a port of this machine. Only in Node. */
async function listenOnLoopback(accept: (transport: Transport) => void): Promise<Loopback> {
  const { WebSocketServer } = await import('ws');
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) => accept(transportOver(socket)));
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  return {
    url: `ws://127.0.0.1:${server.address().port}`,
    close: () =>
      new Promise((done) => {
        for (const client of server.clients) client.terminate();
        server.close(done);
      }),
  };
}

type Push = ToGatewayMessageMap['push'];

/** Answers a query from the pushes so far; a fake gateway stores nothing else. */
function historyOf(
  { queryId, streams, last }: ToGatewayMessageMap['stream.query'],
  pushes: readonly Push[],
  provider: string,
): ToProviderMessageMap['stream.history'] {
  const ts = new Date().toISOString();
  const eventsOf = (stream: string) =>
    pushes
      .filter((push) => (push.stream ?? provider) === stream)
      .slice(-last)
      .toReversed()
      .map(({ event, prompt, metadata }) => ({ ts, event: event ?? prompt ?? '', ...(metadata && { metadata }) }));
  const found = streams.map((asked) => {
    const [stream = ''] = asked.split('@');
    return [`${stream}@${provider}`, eventsOf(stream)];
  });
  return { type: 'stream.history', queryId, streams: Object.fromEntries(found) };
}
