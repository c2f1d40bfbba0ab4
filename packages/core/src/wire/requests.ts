/** The requests of clients, by method. The connection has checked their parameters already. */
import { type ClientRequestMethod, type ClientRequests, ErrorCode } from '@atrium/protocol';
import type { AgentBackend } from '../contracts/agent.js';
import { RequestError } from '../contracts/request-error.js';
import type { Creator } from '../sessions/creation.js';
import type { Lane, Service } from '../sessions/service.js';
import { readImportPage } from '../sessions/session-import.js';
import type { Sessions } from '../sessions/sessions.js';
import { RawJson } from '../util/json-parts.js';
import type { Connection } from './connection.js';
import { type Subscriptions, windowOf } from './subscriptions.js';

export interface RequestsOptions {
  readonly sessions: Sessions;
  readonly subscriptions: Subscriptions;
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
      const lane = lanes?.[method as ClientRequestMethod];
      if (lane) return lane;
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
      const handler = requests?.[method as ClientRequestMethod];
      if (handler) return handler as unknown as Handler<Params>;
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
      const [snapshot] = snapshots;
      return { ...(snapshot !== undefined && { snapshot }), ...(window && { turns: windows[params.channel] }) };
    },

    createSession: async (connection, params) => {
      await this.#options.sessions.create(params, this.#creator(connection));
      return null;
    },

    disposeSession: async (_connection, { channel }) => {
      await this.#options.sessions.dispose(channel);
      return null;
    },

    listSessions: ({ dialect }) => {
      const text = this.#options.sessions.listText();
      return { items: dialect.traits.takesText ? new RawJson(text) : JSON.parse(text) };
    },

    fetchTurns: async ({ dialect }, params) => {
      const session = await this.#options.sessions.open(params.channel);
      if (!session) throw unknownChannel(params.channel);
      return session.fetchTurns(params, dialect.traits.takesText);
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

    'atrium/importSession': async (connection, params) => {
      const page = readImportPage(params, connection);
      if (page) await this.#options.sessions.import(page, this.#creator(connection));
      return null;
    },
  };

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
  const isOther = /^ahp-(terminal|changeset|resource-watch|otlp|root)/.test(uri);
  if (isOther) return new RequestError(ErrorCode.NotFound, `there is no channel ${uri}`);
  return new RequestError(ErrorCode.SessionNotFound, `there is no session ${uri}; listSessions names those there are`);
}
