/** A real host in this process, with an in-memory log and scripted agents, and raw clients that see every frame. */

import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import type { Extension } from '@atrium/core/contracts/extension.js';
import type { HostTool } from '@atrium/core/contracts/tool.js';
import type { Log } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { type Logger, silentLogger } from '@atrium/core/util/logger.js';
import type { WireFrame } from '@atrium/core/wire/frames.js';
import type { Transport, TransportEvents } from '@atrium/core/wire/transport.js';
import type { StateAction } from '@atrium/protocol';
import { scriptedAgent } from '../../../agents/src/scripted/backend.js';
import { createHost } from '../../src/host.js';
import type { Host, HostOptions } from '../../src/host-options.js';
import type { FolderTrust } from '../../src/plugins/trust/folder-trust.js';

export const ROOT = 'ahp-root://';

type Script = Parameters<typeof scriptedAgent>[0];

export const DEFAULT_SCRIPT: Script = {
  provider: 'mock',
  displayName: 'Mock',
  models: [{ id: 'small', name: 'Small' }],
  prompts: {
    hello: [{ text: 'Hello there' }],
    slow: [{ text: 'a' }, { delayMs: 60_000 }, { text: 'b' }],
    tool: [
      {
        tool: {
          id: 'c1',
          name: 'write',
          displayName: 'Write',
          invocationMessage: 'Write a file',
          pastTenseMessage: 'Wrote a file',
          output: 'done',
          success: true,
          confirm: true,
        },
      },
      { text: 'result: ${lastResult}' },
    ],
    fail: [{ text: 'so far' }, { error: { errorType: 'boom', message: 'It broke.' } }],
    ask: [
      {
        ask: {
          id: 'q',
          message: 'Which?',
          questions: [
            { id: 'name', kind: 'text', message: 'Name?', required: true },
            { id: 'more', kind: 'text', message: 'More?' },
          ],
        },
      },
      { text: 'answers: ${lastResult}' },
    ],
  },
  default: [{ text: 'You said: ${text}' }],
};

export interface TestHostOptions {
  readonly log?: Log;
  readonly scripts?: readonly Script[];
  /** Further agents, behind the scripted ones; the first of all is the default. */
  readonly agents?: readonly AgentBackend[];
  readonly clock?: Clock;
  readonly tools?: readonly HostTool[];
  /** What every session is extended by. */
  readonly extensions?: readonly Extension[];
  readonly logger?: Logger;
  /** Which folders may start programs. */
  readonly trust?: FolderTrust;
  /** Refuses rules of providers that the agent of a session cannot honour. */
  readonly strictProviders?: boolean;
  /** Where providers may leave files. */
  readonly providerFolder?: string;
  readonly terminals?: HostOptions['terminals'];
  /** Where sessions leave what is more than their history. */
  readonly dataFolder?: string;
  /** The configuration of the person. */
  readonly personFile?: string;
  readonly defaultDirectory?: string;
  readonly toolOutputMaxCharacters?: number;
  readonly toolInputInlineMaxCharacters?: number;
  /** How long processes of a session outlive its last turn. */
  readonly restProcessesAfterMs?: number;
  readonly joinText?: boolean;
  readonly automations?: HostOptions['automations'];
  readonly usage?: HostOptions['usage'];
  readonly notifications?: HostOptions['notifications'];
  readonly titles?: boolean;
}

export interface TestHost {
  readonly host: Host;
  readonly log: Log;
  /** A connection that has not said anything yet. */
  connect(): RawClient;
  /** A connection after its handshake, subscribed to root. */
  client(clientId?: string, params?: object): Promise<RawClient>;
  stop(): Promise<void>;
}

export async function startTestHost(options: TestHostOptions = {}): Promise<TestHost> {
  const { log = new MemoryLog(), scripts = [DEFAULT_SCRIPT], agents = [], clock = systemClock } = options;
  const {
    tools = [],
    extensions = [],
    logger = silentLogger,
    trust,
    strictProviders = false,
    providerFolder,
    terminals,
    defaultDirectory,
    dataFolder,
    personFile,
    toolOutputMaxCharacters,
    toolInputInlineMaxCharacters,
    restProcessesAfterMs,
    joinText,
    automations,
    usage,
    notifications,
    titles,
  } = options;
  const scripted = scripts.map((script) => scriptedAgent(script, { clock }));
  const host = await createHost({
    log,
    clock,
    logger,
    tools,
    extensions,
    strictProviders,
    ...(trust && { trust }),
    ...(providerFolder !== undefined && { providerFolder }),
    ...(terminals !== undefined && { terminals }),
    ...(dataFolder !== undefined && { dataFolder }),
    ...(personFile !== undefined && { personFile }),
    ...(toolOutputMaxCharacters !== undefined && { toolOutputMaxCharacters }),
    ...(toolInputInlineMaxCharacters !== undefined && { toolInputInlineMaxCharacters }),
    ...(defaultDirectory !== undefined && { defaultDirectory }),
    ...(restProcessesAfterMs !== undefined && { restProcessesAfterMs }),
    ...(joinText !== undefined && { joinText }),
    ...(automations !== undefined && { automations }),
    ...(usage !== undefined && { usage }),
    ...(notifications !== undefined && { notifications }),
    ...(titles !== undefined && { titles }),
    agents: [...scripted, ...agents],
  });
  let clients = 0;
  const connect = () => {
    const client = new RawClient();
    host.connect(client.transport);
    return client;
  };
  return {
    host,
    log,
    connect,
    async client(clientId = `client-${++clients}`, params = {}) {
      const client = connect();
      await client.initialize(clientId, params);
      return client;
    },
    stop: () => host.stop(),
  };
}

export interface Message {
  readonly id?: number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { code: number; message: string; data?: unknown };
}

/** A client that sends what it is told to and keeps everything it gets. */
export class RawClient {
  readonly received: Message[] = [];
  readonly transport: Transport;
  closed: { code: number; reason: string } | undefined;
  bufferedBytes = 0;
  clientId = '';
  #events: TransportEvents | undefined;
  #nextId = 1;
  #clientSeq = 0;
  readonly #watchers = new Set<() => void>();

  constructor() {
    const self = this;
    this.transport = {
      name: 'test',
      start: (events) => {
        self.#events = events;
      },
      send: (frames: readonly WireFrame[]) => {
        for (const { text } of frames) self.received.push(JSON.parse(text));
        for (const watcher of self.#watchers) watcher();
      },
      get bufferedBytes() {
        return self.bufferedBytes;
      },
      close: (code, reason) => {
        self.closed = { code, reason };
        for (const watcher of self.#watchers) watcher();
      },
    };
  }

  sendText(text: string): void {
    queueMicrotask(() => this.#events?.message(text));
  }

  send(message: object): void {
    this.sendText(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  drain(): void {
    this.#events?.drain();
  }

  disconnect(): void {
    this.#events?.closed();
  }

  /** Sends a request and waits for its answer, whichever it is. */
  async ask(method: string, params: object = {}): Promise<Message> {
    const id = this.#nextId++;
    this.send({ id, method, params });
    return this.until((message) => message.id === id && ('result' in message || 'error' in message));
  }

  /** Sends a request that must succeed. */
  async request<T = Record<string, unknown>>(method: string, params: object = {}): Promise<T> {
    const { result, error } = await this.ask(method, params);
    if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result as T;
  }

  async initialize(clientId: string, params: object = {}): Promise<Record<string, unknown>> {
    this.clientId = clientId;
    return this.request('initialize', {
      channel: ROOT,
      protocolVersions: ['0.3.0', '0.2.0'],
      clientId,
      initialSubscriptions: [ROOT],
      ...params,
    });
  }

  /** Is the same client as another connection was: its id, and its numbers where they ended. */
  continue(older: RawClient): void {
    this.clientId = older.clientId;
    this.#clientSeq = older.#clientSeq;
  }

  dispatch(channel: string, action: StateAction | { type: string }, clientSeq = ++this.#clientSeq): number {
    this.send({ method: 'dispatchAction', params: { channel, clientSeq, action } });
    return clientSeq;
  }

  /** Creates a session, subscribes to it and waits until it is ready. */
  async session(channel = `ahp-session:/${crypto.randomUUID()}`, params: object = {}): Promise<string> {
    await this.request('createSession', { channel, ...params });
    await this.request('subscribe', { channel });
    await this.until(
      ({ method, params: envelope, result }) =>
        (method === 'action' && envelope?.channel === channel && typeIn(envelope) === 'session/ready') ||
        [channel, '"lifecycle":"ready"'].every((text) => JSON.stringify(result ?? '').includes(text)),
    );
    return channel;
  }

  /** Sends a message and waits for the turn to end. */
  async turn(channel: string, text: string, turnId = `t-${crypto.randomUUID()}`): Promise<string> {
    this.dispatch(channel, { type: 'session/turnStarted', turnId, userMessage: { text } });
    await this.action(channel, (action) => ENDS.has(action.type) && action.turnId === turnId);
    return turnId;
  }

  /** Waits for an action, past or future. */
  async action(channel: string, test: string | ((action: Record<string, never> & { type: string }) => boolean)) {
    const matches = typeof test === 'string' ? (action: { type: string }) => action.type === test : test;
    const message = await this.until(
      ({ method, params }) =>
        method === 'action' &&
        params?.channel === channel &&
        matches(params.action as Record<string, never> & { type: string }),
    );
    return message.params as {
      action: Record<string, unknown>;
      serverSeq: number;
      origin?: object;
      rejectionReason?: string;
    };
  }

  /** Waits for a message, past or future. */
  until(test: (message: Message) => boolean, timeoutMs = 10_000): Promise<Message> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#watchers.delete(look);
        const seen = this.received.map((message) => JSON.stringify(message).slice(0, 160)).join('\n');
        reject(new Error(`waited in vain; closed: ${JSON.stringify(this.closed)}; received:\n${seen}`));
      }, timeoutMs);
      let looked = 0;
      const look = () => {
        const found = this.received.slice(looked).find(test);
        looked = this.received.length;
        if (!found) return;
        clearTimeout(timer);
        this.#watchers.delete(look);
        resolve(found);
      };
      this.#watchers.add(look);
      look();
    });
  }

  async untilClosed(): Promise<{ code: number; reason: string }> {
    while (!this.closed) await new Promise((resolve) => setTimeout(resolve, 1));
    return this.closed;
  }

  /** All action envelopes of a channel so far. */
  envelopes(
    channel: string,
  ): { action: { type: string }; serverSeq: number; origin?: object; rejectionReason?: string }[] {
    return this.received.flatMap(({ method, params }) =>
      method === 'action' && params?.channel === channel ? [params as never] : [],
    );
  }

  types(channel: string): string[] {
    return this.envelopes(channel).map(({ action }) => action.type);
  }

  /** A fresh snapshot of a channel. */
  async state<T = Record<string, never>>(channel: string): Promise<T> {
    const { snapshot } = await this.request<{ snapshot: { state: T } }>('subscribe', { channel });
    return snapshot.state;
  }
}

const ENDS = new Set(['session/turnComplete', 'session/turnCancelled', 'session/error']);

function typeIn(envelope: Record<string, unknown>): string {
  return (envelope.action as { type: string }).type;
}

/** Lets everything that is under way settle: a few turns of the event loop. */
export async function settle(turns = 5): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
