/** The requests of clients, by method. The connection has checked their parameters already. */
import {
  type ClientRequestMethod,
  type ClientRequests,
  ErrorCode,
  LAST_CHOICE_METHOD,
  PIN_METHOD,
  PRIVATE,
  ROOT_CHANNEL,
} from '@atrium/protocol/ahp-1';
import type { Writer } from '../channels/writer.js';
import type { AgentBackend } from '../contracts/agent.js';
import { RequestError } from '../contracts/request-error.js';
import type { Chat } from '../sessions/chat.js';
import type { Creator } from '../sessions/creation.js';
import { PROGRESS_TOKEN_MAX_CHARACTERS, type TellProgress } from '../sessions/creation-progress.js';
import type { TurnsRequest } from '../sessions/history.js';
import { FETCH_TURNS_MAX } from '../sessions/limits.js';
import type { Lane, Service } from '../sessions/service.js';
import { readImportPage } from '../sessions/session-import.js';
import { chatSummaryOf } from '../sessions/session-summary.js';
import type { Sessions } from '../sessions/sessions.js';
import { RawJson } from '../util/json-parts.js';
import type { Connection } from './connection.js';
import { type Subscriptions, windowOf } from './subscriptions.js';

export interface RequestsOptions {
  readonly sessions: Sessions;
  readonly subscriptions: Subscriptions;
  readonly writer: Writer;
  /** Parts of the host that answer requests of their own. The first that knows a method answers it. */
  readonly services: readonly Service[];
  /** Throws when an agent needs a token that this connection has not shown. */
  checkAccess(connection: Connection, agent: AgentBackend): void;
}

type Params = Readonly<Record<string, unknown>>;
type Handler<P> = (connection: Connection, params: P) => unknown;
type Handlers = { readonly [M in ClientRequestMethod]?: Handler<ClientRequests[M]['params']> };

/** These look at folders and ask Git, and no later request depends on them. */
const ASIDE: ReadonlySet<string> = new Set(['resolveSessionConfig', 'sessionConfigCompletions']);

export class Requests {
  readonly #options: RequestsOptions;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** Methods of our own beside the protocol. Other hosts do not know them, and their parameters have no schema. */
  isExtension(method: string): boolean {
    return this.#extension(method) !== undefined;
  }

  /** Where a request of this method waits; see `Lane`. */
  laneOf(method: string): Lane {
    if (ASIDE.has(method)) return 'aside';
    for (const { lanes } of this.#options.services) {
      if (lanes && Object.hasOwn(lanes, method)) return lanes[method] ?? 'main';
    }
    return 'main';
  }

  answer(connection: Connection, method: string, params: Params): unknown {
    const handler = this.#ofService(method) ?? this.#extension(method) ?? this.#own(method);
    if (!handler) throw new RequestError(ErrorCode.MethodNotFound, `this host does not offer ${method} yet`);
    return handler(connection, params);
  }

  #ofService(method: string): Handler<Params> | undefined {
    for (const { requests } of this.#options.services) {
      if (requests && Object.hasOwn(requests, method))
        return requests[method as ClientRequestMethod] as unknown as Handler<Params>;
    }
    return undefined;
  }

  #extension(method: string): Handler<Params> | undefined {
    if (Object.hasOwn(this.#extensions, method)) return this.#extensions[method];
    for (const { extensionRequests } of this.#options.services) {
      if (extensionRequests && Object.hasOwn(extensionRequests, method)) return extensionRequests[method];
    }
    return undefined;
  }

  #own(method: string): Handler<Params> | undefined {
    return Object.hasOwn(this.#handlers, method)
      ? (this.#handlers[method as ClientRequestMethod] as Handler<Params>)
      : undefined;
  }

  readonly #handlers: Handlers = {
    subscribe: async (connection, params) => {
      const window = windowOf(params as Params);
      const { subscriptions } = this.#options;
      const { snapshots, windows, found } = await subscriptions.open(connection, [params.channel], window);
      if (found.length === 0) throw unknownChannel(params.channel);
      connection.holdText(params.channel, params.delivery?.maxLatencyMs);
      const [snapshot] = snapshots;
      return { ...(snapshot !== undefined && { snapshot }), ...(window && { turns: windows[params.channel] }) };
    },

    createSession: async (connection, params) => {
      const progress = this.#progress(connection, params.progressToken);
      await this.#options.sessions.create(params, { ...this.#creator(connection), progress });
      return null;
    },

    disposeSession: async (_connection, { channel }) => {
      await this.#options.sessions.dispose(channel);
      return null;
    },

    createChat: async (_connection, params) => {
      await this.#options.sessions.createChat(params);
      return null;
    },

    disposeChat: async (_connection, { channel }) => {
      await this.#options.sessions.disposeChat(channel);
      return null;
    },

    listSessions: ({ dialect }, { limit, cursor }) => {
      const isUsable = limit === undefined || (Number.isSafeInteger(limit) && limit > 0);
      if (!isUsable) throw new RequestError(ErrorCode.InvalidParams, '/limit must be a positive number');
      const { text, nextCursor } = this.#options.sessions.page({ limit, cursor });
      const items = dialect.traits.sendsStoredJson ? new RawJson(text) : JSON.parse(text);
      return { items, ...(nextCursor !== undefined && { nextCursor }) };
    },

    fetchTurns: async (connection, params) => {
      const { channel, cursor } = params;
      const { sessions } = this.#options;
      const page = (params as { readonly [PRIVATE]?: TurnsRequest })[PRIVATE];
      const chat = await sessions.openChat(channel);
      // Older wires know sessions only, and get the turns in the answer.
      if (!chat) throw unknownChannel(page ? sessions.sessionUriOf(channel) : channel);
      if (page) return chat.fetchTurns(page) as never;
      await this.#loadTurns(connection, chat, cursor);
      return {};
    },

    resolveSessionConfig: (_connection, params) => this.#options.sessions.choices.resolve(params),

    sessionConfigCompletions: async (_connection, params) => ({
      items: await this.#options.sessions.choices.completions(params),
    }),

    initialize: secondHandshake,
    reconnect: secondHandshake,
  };

  readonly #extensions: Readonly<Record<string, Handler<Params>>> = {
    'atrium/restoreSession': async (_connection, { channel }) => {
      await this.#options.sessions.restore(String(channel));
      return null;
    },

    'atrium/listDisposed': () => ({ items: this.#options.sessions.disposed() }),

    [PIN_METHOD]: async (_connection, { channel, pinned }) => {
      const session = await this.#options.sessions.open(String(channel));
      if (!session) throw unknownChannel(String(channel));
      if (typeof pinned !== 'boolean') throw new RequestError(ErrorCode.InvalidParams, '/pinned must be true or false');
      session.pin(pinned);
      await this.#options.writer.settled();
      return null;
    },

    [LAST_CHOICE_METHOD]: (_connection, { folder }) => this.#options.sessions.lastChoice(String(folder)),

    'atrium/annotations': async (_connection, { channel }) => {
      const session = await this.#options.sessions.open(String(channel));
      if (!session) throw unknownChannel(String(channel));
      return session.annotations.committed;
    },

    'atrium/chats': async (_connection, { channel }) => {
      const session = await this.#options.sessions.open(String(channel));
      if (!session) throw unknownChannel(String(channel));
      const further = session.chats.filter((chat) => chat !== session.chat);
      const listed = further.map(async (chat) => {
        const context = await chat.contextCount();
        return { ...chatSummaryOf(chat.committed), turns: chat.turnCount(), ...(context > 0 && { context }) };
      });
      return { chats: await Promise.all(listed) };
    },

    'atrium/chatTurns': async (_connection, { channel, start, end, context }) => {
      const chat = await this.#options.sessions.openChat(String(channel));
      if (!chat) throw unknownChannel(String(channel));
      const first = Math.max(0, Math.trunc(Number(start)) || 0);
      const last = Math.min(Math.trunc(Number(end)) || 0, first + FETCH_TURNS_MAX);
      const range = [first, Math.max(first, last)] as const;
      return { turns: await (context === true ? chat.contextTurns(...range) : chat.turnsBetween(...range)) };
    },

    'atrium/importSession': async (connection, params) => {
      const page = readImportPage(params, connection);
      if (page) await this.#options.sessions.import(page, this.#creator(connection));
      return null;
    },
  };

  /** Sends a client the turns before those that it has, as an action of its own: the windows of other clients do not change. */
  async #loadTurns(connection: Connection, chat: Chat, cursor: string | undefined): Promise<void> {
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor))
      throw new RequestError(ErrorCode.InvalidParams, `/cursor: ${cursor} is not one of ours`);
    const { writer, subscriptions } = this.#options;
    // What a cut names is loaded for the client meanwhile. Where it is not known what a client has, its cursor says so.
    const end = () => {
      const loaded = subscriptions.loadedBy(connection, chat.uri);
      return cursor === undefined || loaded > 0 ? Math.min(loaded, Number(cursor ?? loaded)) : Number(cursor);
    };
    if (end() === 0) return;
    const { start, turns } = await chat.turnsBefore(end);
    subscriptions.tellLoaded(connection, chat.uri, { start, turns });
    await writer.settled();
  }

  /** Tells this client alone how far its request is. */
  #progress(connection: Connection, progressToken: string | undefined): TellProgress | undefined {
    if (progressToken === undefined) return undefined;
    if (progressToken.length > PROGRESS_TOKEN_MAX_CHARACTERS)
      throw new RequestError(
        ErrorCode.InvalidParams,
        `/progressToken may have ${PROGRESS_TOKEN_MAX_CHARACTERS} characters`,
      );
    const { subscriptions } = this.#options;
    return (update) => {
      const params = { channel: ROOT_CHANNEL, progressToken, ...update };
      subscriptions.notifyOne(connection, { method: 'root/progress', params });
    };
  }

  #creator(connection: Connection): Creator {
    return {
      clientId: connection.identity?.clientId,
      mayUse: (agent) => this.#options.checkAccess(connection, agent),
    };
  }
}

function secondHandshake(): never {
  throw new RequestError(ErrorCode.InvalidRequest, 'the handshake is done already');
}

/** The error for a client that names a channel which does not exist. */
export function unknownChannel(uri: string): RequestError {
  const isOther = /^ahp-(chat|terminal|changeset|resource-watch|otlp|root|automation|canvas)/.test(uri);
  if (isOther) return new RequestError(ErrorCode.NotFound, `there is no channel ${uri}`);
  return new RequestError(ErrorCode.SessionNotFound, `there is no session ${uri}; listSessions names those there are`);
}
