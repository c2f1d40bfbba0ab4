/** The public face of the library: `connect` opens the first connection and returns a `Client`. */
import { newId } from '@atrium/link';
import {
  CANCEL_WORK_METHOD,
  type ChannelKind,
  type CreateChatParams,
  type CreateSessionParams,
  type HostNotificationMethod,
  type HostNotifications,
  ROOT_CHANNEL,
  type SessionSummary,
} from '@atrium/protocol/ahp-1';
import type { Channel } from './channel.js';
import type { Status } from './connection.js';
import { Engine, type HostInfo } from './engine.js';
import { ClientClosedError } from './errors.js';
import {
  type ChatUri,
  type DispatchedAction,
  type KindOf,
  kindFor,
  type SessionUri,
  type UserMessage,
} from './kinds.js';
import { chatOf, OpenSession } from './open-session.js';
import { type ConnectOptions, settingsOf } from './options.js';
import type { CallMethod, CallParams, CallResult } from './peer.js';
import type { Accepted } from './pending-actions.js';
import type { TurnWindow } from './reconcile.js';
import type { SessionList } from './session-list.js';
import { readSessions } from './session-pages.js';
import { fromUser } from './stamps.js';
import { Subscription, type SubscriptionHost } from './subscription.js';

export interface SubscribeOptions<K extends ChannelKind> {
  /** The kind of channel, where the type of the URI does not tell. */
  readonly kind?: K;
  /** Only the newest turns of a chat; `loadOlder` brings more. */
  readonly turns?: TurnWindow;
}

export interface OpenOptions {
  /** Only the newest turns of the chat; `chat.loadOlder` brings more. */
  readonly turns?: TurnWindow;
  /** The chat to open; the session's default one, if left out. */
  readonly chat?: string;
}

export interface CreateChatOptions extends Partial<Omit<CreateChatParams, 'channel' | 'initialMessage'>> {
  /** Starts the first turn at once. */
  readonly initialMessage?: UserMessage;
}

export interface CreationProgress {
  /** Steps; the last one is done when they equal the total. */
  readonly done: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface LongRequestOptions {
  readonly onProgress?: (progress: CreationProgress) => void;
  /** Stops the work. */
  readonly signal?: AbortSignal;
}

export class Client {
  readonly #engine: Engine;
  /** Channels of `initialSubscriptions` that no `subscribe` call has claimed yet. */
  readonly #initial: Map<string, Channel>;
  readonly #handleHost: SubscriptionHost;

  /** Clients are made by `connect`. */
  constructor(engine: Engine, initial: readonly Channel[]) {
    const { connection, subscriptions } = engine;
    this.#engine = engine;
    this.#initial = new Map(initial.map((channel) => [channel.uri, channel]));
    this.#handleHost = {
      dispatch: (uri, action) => this.dispatch(uri, action),
      loadOlder: async (channel, count) => subscriptions.loadOlder(connection.peer('loadOlder'), channel, count),
      release: (channel) => subscriptions.release(channel),
    };
  }

  get clientId(): string {
    return this.#engine.store.clientId;
  }

  get status(): Status {
    return this.#engine.connection.status;
  }

  /** The host's description of itself from the handshake. */
  get host(): HostInfo {
    return this.#engine.info ?? { protocolVersion: '' };
  }

  onStatus(listener: (status: Status) => void): () => void {
    return this.#engine.connection.statusChanged.on(listener);
  }

  /** Notifications of the host besides actions: `auth/required`, telemetry, changes to the list of sessions. */
  onNotification<M extends HostNotificationMethod>(
    method: M,
    listener: (params: HostNotifications[M]) => void,
  ): () => void {
    return this.#engine.notified.on(
      (notification) => notification.method === method && listener(notification.params as HostNotifications[M]),
    );
  }

  /**
   * The same for a notification that the host adds to the protocol, such as `atrium/notified`. Check `params` yourself.
   */
  onExtension(method: string, listener: (params: unknown) => void): () => void {
    return this.#engine.extended.on((notification) => notification.method === method && listener(notification.params));
  }

  /** Asks the host. Rejects with a `RequestError` when it refuses, and at once when there is no connection. */
  async request<M extends CallMethod>(method: M, params: CallParams<M>): Promise<CallResult<M>> {
    return this.#engine.connection.peer(method).request(method, params);
  }

  /**
   * The same for a method that the host adds to the protocol, such as `atrium/restoreSession`. Check the answer
   * yourself.
   */
  async requestExtension(method: string, params: object = {}): Promise<unknown> {
    return this.request(method as CallMethod, params as CallParams<CallMethod>);
  }

  /**
   * The same for work that takes a while: an import, a rewind, a push. The host tells how far it is, and stops it when the
   * signal fires; the answer then says what is done, or the request is rejected.
   */
  async requestLong(method: string, params: object, { onProgress, signal }: LongRequestOptions): Promise<unknown> {
    const progressToken = `work-${newId()}`;
    const isOfProtocol = !method.includes('atrium/');
    const token = isOfProtocol ? { _meta: { progressToken } } : { progressToken };
    const stop = () => void this.requestExtension(CANCEL_WORK_METHOD, { progressToken }).catch(() => {});
    const forget = this.onProgress(
      (notification, progress) => notification === progressToken && onProgress?.(progress),
    );
    signal?.throwIfAborted();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await this.requestExtension(method, { ...params, ...token });
    } finally {
      forget();
      signal?.removeEventListener('abort', stop);
    }
  }

  /**
   * Creates a session, under a new URI unless one is given. Resolves with the URI. The host tells how far it is: see
   * `onProgress`.
   */
  async createSession(options: Partial<CreateSessionParams> = {}): Promise<SessionUri> {
    const { channel = `ahp-session:/${newId()}`, ...others } = options;
    const rest = { progressToken: channel, ...others };
    await this.request('createSession', { channel, ...this.#engine.claims.session(rest) });
    return channel as SessionUri;
  }

  /**
   * Reports how far the creation of a session of this client is: the current step, and how many steps are done of how
   * many.
   */
  onProgress(listener: (session: string, progress: CreationProgress) => void): () => void {
    return this.onNotification('root/progress', ({ progressToken, progress, total, message }) =>
      listener(progressToken, { done: progress, total, message }),
    );
  }

  async disposeSession(uri: string): Promise<void> {
    await this.request('disposeSession', { channel: uri });
    this.#engine.store.loseSession(uri);
  }

  /** Adds a chat to a session: an empty one, a fork or a side chat of another. Resolves with its URI. */
  async createChat(session: string, options: CreateChatOptions = {}): Promise<ChatUri> {
    const { chat = `ahp-chat:/${newId()}`, initialMessage, ...rest } = options;
    const first = initialMessage && { initialMessage: fromUser(initialMessage) };
    await this.request('createChat', { channel: session, chat, ...rest, ...first });
    return chat as ChatUri;
  }

  async disposeChat(uri: string): Promise<void> {
    await this.request('disposeChat', { channel: uri });
    const channel = this.#engine.store.find(uri);
    if (channel) this.#engine.store.lose(channel);
  }

  /** All sessions, the most recently modified first. */
  async listSessions(): Promise<readonly SessionSummary[]> {
    return (await readSessions(this.#engine.connection.peer('listSessions'))).items;
  }

  /** The list of sessions, kept up to date until it is closed. */
  async sessions(): Promise<SessionList> {
    const root = await this.subscribe(ROOT_CHANNEL);
    return this.#engine.lists.open(this.#engine.connection.peer('listSessions'), () => root.close());
  }

  /** Subscribes to a channel, or shares an existing subscription. Resolves once its state has arrived. */
  async subscribe<U extends string, K extends ChannelKind = KindOf<U>>(
    uri: U,
    { kind, turns }: SubscribeOptions<K> = {},
  ): Promise<Subscription<K>> {
    this.#engine.connection.throwIfClosed();
    const channel = await this.#engine.subscriptions.open({ uri, kind: kindFor(uri, kind), last: turns?.last });
    if (this.#initial.get(uri) === channel) {
      this.#initial.delete(uri);
      channel.handles -= 1;
    }
    return new Subscription<K>(channel, this.#handleHost);
  }

  /** Opens a session with its conversation: subscribes to it and to one of its chats. */
  async open(uri: string, { turns, chat }: OpenOptions = {}): Promise<OpenSession> {
    const session = await this.subscribe(uri, { kind: 'session' });
    try {
      const named = chat ?? (await chatOf(session, this.#engine.limit));
      const opened = await this.subscribe(named, { kind: 'chat', ...(turns && { turns }) });
      return new OpenSession(session, opened, this.#engine.log);
    } catch (error) {
      session.close();
      throw error;
    }
  }

  /** Asks for an action on a channel, subscribed or not. See `Subscription.dispatch`. */
  dispatch(uri: string, action: DispatchedAction): Promise<Accepted> {
    // The host would echo it unchanged, and the client drops envelopes whose action has no type.
    if (typeof action?.type !== 'string') return Promise.reject(new TypeError('an action is an object with a type'));
    return this.#engine.dispatch(uri, action);
  }

  /** Reconnects now instead of waiting for the next attempt, for instance when the user asks for it. */
  reconnectNow(): void {
    this.#engine.connection.dialNow();
  }

  /** Ends everything. Loops end, and pending requests and actions fail. */
  close(): void {
    this.#engine.connection.close();
  }
}

/**
 * Connects to a host. Rejects when the first attempt fails; from then on the client reconnects by itself.
 *
 * ```ts
 * const client = await connect({ url: 'ws://127.0.0.1:9300', token });
 * ```
 */
export async function connect(options: ConnectOptions): Promise<Client> {
  const settings = settingsOf(options);
  const { initialSubscriptions, turns } = settings;
  const engine = new Engine(settings);
  const { store } = engine;
  const initial = [...new Set(initialSubscriptions)].map((uri) =>
    store.add({ uri, kind: kindFor(uri, undefined), last: turns?.last }),
  );
  for (const channel of initial) channel.handles = 1;
  // The root channel tells which sessions are gone, so the client subscribes to it for its whole life.
  const root = store.find(ROOT_CHANNEL) ?? store.add({ uri: ROOT_CHANNEL, kind: 'root' });
  root.handles += 1;
  await opened(engine);
  return new Client(engine, initial);
}

function opened({ connection }: Engine): Promise<void> {
  return new Promise((resolve, reject) => {
    const off = connection.statusChanged.on((status) => {
      if (status.at === 'connecting') return;
      off();
      if (status.at === 'open') resolve();
      else reject(status.error ?? new ClientClosedError());
    });
    connection.dial();
  });
}
