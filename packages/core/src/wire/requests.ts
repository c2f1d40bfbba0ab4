/** Handlers for clients' requests, by method. The connection has already checked the parameters. */
import {
  CANCEL_WORK_METHOD,
  type ClientRequestMethod,
  type ClientRequests,
  ErrorCode,
  hasRole,
  LAST_CHOICE_METHOD,
  leastForRequest,
  MODE_PROPERTY,
  PIN_METHOD,
  PRIVATE,
  ROOT_CHANNEL,
  type SessionSummary,
  type Turn,
} from '@atrium/protocol/ahp-1';
import type { Writer } from '../channels/writer.js';
import type { AgentBackend } from '../contracts/agent.js';
import { RequestError } from '../contracts/request-error.js';
import { UNWATCHED, type Work } from '../contracts/work.js';
import type { Chat } from '../sessions/chat.js';
import type { Creator } from '../sessions/creation.js';
import { PROGRESS_TOKEN_MAX_CHARACTERS, type ReportProgress } from '../sessions/creation-progress.js';
import type { TurnsPage, TurnsRequest } from '../sessions/history.js';
import { FETCH_TURNS_MAX } from '../sessions/limits.js';
import type { Lane, Service } from '../sessions/service.js';
import { readImportPage } from '../sessions/session-import.js';
import { chatSummaryOf } from '../sessions/session-summary.js';
import type { Sessions } from '../sessions/sessions.js';
import type { Clock } from '../util/clock.js';
import { RawJson } from '../util/json-parts.js';
import type { AccessControl } from './access-control.js';
import type { Connection } from './connection.js';
import { LongWork } from './long-work.js';
import type { Projection } from './projection.js';
import { type Subscriptions, windowOf } from './subscriptions.js';
import { unknownChannel } from './unknown-channel.js';

export interface RequestsOptions {
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly subscriptions: Subscriptions;
  readonly writer: Writer;
  readonly control: Pick<AccessControl, 'sees'>;
  /** Parts of the host that answer requests themselves. The first one that knows a method answers it. */
  readonly services: readonly Service[];
  /** Throws when an agent needs a token that this connection has not presented. */
  checkAccess(connection: Connection, agent: AgentBackend): void;
}

type Params = Readonly<Record<string, unknown>>;
type Handler<P> = (connection: Connection, params: P) => unknown;
type WorkHandler = (connection: Connection, params: Params, work: Work) => unknown;
type Handlers = { readonly [M in ClientRequestMethod]?: Handler<ClientRequests[M]['params']> };

/** Methods that look at folders and ask Git. No later request depends on them, so they do not hold up the main lane. */
const ASIDE: ReadonlySet<string> = new Set(['resolveSessionConfig', 'sessionConfigCompletions']);

export class Requests {
  readonly #options: RequestsOptions;
  readonly #longWork: LongWork;

  constructor(options: RequestsOptions) {
    this.#options = options;
    this.#longWork = new LongWork(options.clock, options.subscriptions);
  }

  /**
   * True for methods of our own beside the protocol. Other hosts do not know them, and their parameters have no schema.
   */
  isExtension(method: string): boolean {
    return this.#extension(method) !== undefined;
  }

  /** Every method that this host answers, both of the protocol and our own. */
  methods(): string[] {
    const ofServices = this.#options.services.flatMap(({ requests, extensionRequests }) => [
      ...Object.keys(requests ?? {}),
      ...Object.keys(extensionRequests ?? {}),
    ]);
    return [...new Set([...Object.keys(this.#handlers), ...Object.keys(this.#extensions), ...ofServices])].sort();
  }

  /** The lane in which requests of this method wait. */
  laneOf(method: string): Lane {
    if (ASIDE.has(method)) return 'aside';
    // A cancellation must not wait for the request that it cancels.
    if (method === CANCEL_WORK_METHOD) return 'free';
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
        return this.#watched(requests[method as ClientRequestMethod] as unknown as WorkHandler);
    }
    return undefined;
  }

  #extension(method: string): Handler<Params> | undefined {
    if (Object.hasOwn(this.#extensions, method)) return this.#extensions[method];
    for (const { extensionRequests } of this.#options.services) {
      const handler = extensionRequests && Object.hasOwn(extensionRequests, method) && extensionRequests[method];
      if (handler) return this.#watched(handler);
    }
    return undefined;
  }

  #watched(handler: WorkHandler): Handler<Params> {
    return (connection, params) =>
      this.#longWork.isWatched(params)
        ? this.#longWork.run(connection, params, (work) => handler(connection, params, work))
        : handler(connection, params, UNWATCHED);
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

    listSessions: (connection, { limit, cursor }) => {
      const { dialect, access, edition } = connection;
      const isUsable = limit === undefined || (Number.isSafeInteger(limit) && limit > 0);
      if (!isUsable) throw new RequestError(ErrorCode.InvalidParams, '/limit must be a positive number');
      const { sessions, control } = this.#options;
      const only = access.bounds && ((uri: string) => control.sees(access, uri));
      const { text, nextCursor } = sessions.page({ limit, cursor, only });
      const { projection } = edition;
      const isStored = dialect.traits.sendsStoredJson && !projection;
      const items = isStored ? new RawJson(text) : listed(text, projection);
      if (access.bounds && Array.isArray(items)) {
        const roots = items.map(({ resource }) => resource);
        this.#options.subscriptions.noteListed(connection, roots);
      }
      return { items, ...(nextCursor !== undefined && { nextCursor }) };
    },

    fetchTurns: async (connection, params) => {
      const { channel, cursor } = params;
      const { sessions } = this.#options;
      const page = (params as { readonly [PRIVATE]?: TurnsRequest })[PRIVATE];
      const chat = await sessions.openChat(channel);
      // Older wires know only sessions, and get the turns in the answer.
      if (!chat) throw unknownChannel(page ? sessions.sessionUriOf(channel) : channel);
      if (page) return projectedPage(await chat.fetchTurns(page), connection) as never;
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

    [CANCEL_WORK_METHOD]: (connection, { progressToken }) => ({
      wasRunning: this.#longWork.cancel(connection, progressToken),
    }),

    'atrium/listDisposed': () => ({ items: this.#options.sessions.disposed() }),

    [PIN_METHOD]: async (_connection, { channel, pinned }) => {
      const session = await this.#options.sessions.open(String(channel));
      if (!session) throw unknownChannel(String(channel));
      if (typeof pinned !== 'boolean') throw new RequestError(ErrorCode.InvalidParams, '/pinned must be true or false');
      session.pin(pinned);
      await this.#options.writer.settled();
      return null;
    },

    [LAST_CHOICE_METHOD]: async ({ access }, { folder }) => {
      const last = await this.#options.sessions.lastChoice(String(folder));
      // What runs without asking, only the owner chooses.
      const isRefused = !hasRole(access.role, leastForRequest('createSession', { config: last.config }));
      return isRefused ? { ...last, config: { [MODE_PROPERTY]: 'ask' } } : last;
    },

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

  /**
   * Sends one client the turns before those that it has, as an action to it alone: what other clients have loaded does
   * not change.
   */
  async #loadTurns(connection: Connection, chat: Chat, cursor: string | undefined): Promise<void> {
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor))
      throw new RequestError(ErrorCode.InvalidParams, `/cursor: ${cursor} is not a cursor of this host`);
    const { writer, subscriptions } = this.#options;
    // Computed late, because a cut may load turns for the client meanwhile. If the host does not know what the client
    // has, the client's cursor says it.
    const end = () => {
      const loaded = subscriptions.loadedBy(connection, chat.uri);
      return cursor === undefined || loaded > 0 ? Math.min(loaded, Number(cursor ?? loaded)) : Number(cursor);
    };
    if (end() === 0) return;
    const { start, turns } = await chat.turnsBefore(end);
    subscriptions.sendOlderTurns(connection, chat.uri, { start, turns });
    await writer.settled();
  }

  /** Sends progress of a request to the client that made it. */
  #progress(connection: Connection, progressToken: string | undefined): ReportProgress | undefined {
    if (progressToken === undefined) return undefined;
    if (progressToken.length > PROGRESS_TOKEN_MAX_CHARACTERS)
      throw new RequestError(
        ErrorCode.InvalidParams,
        `/progressToken may have at most ${PROGRESS_TOKEN_MAX_CHARACTERS} characters`,
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
      assertUsable: (agent) => this.#options.checkAccess(connection, agent),
    };
  }
}

function listed(text: string, projection: Projection | undefined): SessionSummary[] {
  const items = JSON.parse(text) as SessionSummary[];
  return projection ? items.map((summary) => projection.summary(summary)) : items;
}

function projectedPage(page: TurnsPage, { edition: { projection } }: Connection): TurnsPage {
  if (!projection) return page;
  return { ...page, turns: (page.turns as readonly Turn[]).map((turn) => projection.turn(turn)) };
}

function secondHandshake(): never {
  throw new RequestError(ErrorCode.InvalidRequest, 'the handshake is already done');
}
