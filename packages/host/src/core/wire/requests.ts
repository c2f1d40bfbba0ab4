/** What each request does. One small function per method; the connection has checked the params already. */
import { type ClientRequestMethod, type ClientRequests, ErrorCode } from '@atrium/protocol';
import { keepImported } from '../../blobs/imported-content.js';
import type { HostCore } from '../contracts/host-core.js';
import { RequestError } from '../contracts/request-error.js';
import type { Lane } from '../contracts/service.js';
import type { Creator } from '../sessions/creation.js';
import { readImportPage } from '../sessions/imported.js';
import type { Connection } from './connection.js';
import { isNative } from './dialects/dialects.js';
import { RawJson } from './json-parts.js';
import { subscribeTo, windowOf } from './subscriptions.js';

type Params = Readonly<Record<string, unknown>>;
type Handler<P> = (core: HostCore, connection: Connection, params: P) => Promise<unknown> | unknown;
type ServiceHandler = (connection: Connection, params: Params) => unknown;
type Handlers = { readonly [M in ClientRequestMethod]?: Handler<ClientRequests[M]['params']> };

const handlers: Handlers = {
  async subscribe(core, connection, params) {
    const window = windowOf(params as Params);
    const { snapshots, windows, found } = await subscribeTo(core, connection, [params.channel], window);
    if (found.length === 0) throw core.unknownChannel(params.channel);
    const [snapshot] = snapshots;
    return { ...(snapshot !== undefined && { snapshot }), ...(window && { turns: windows[params.channel] }) };
  },

  createSession: async (core, connection, params) => {
    await core.sessions.create(params, clientOf(core, connection));
    return null;
  },

  disposeSession: async (core, _connection, { channel }) => {
    await core.sessions.dispose(channel);
    return null;
  },

  listSessions: (core, { dialect }) => {
    const text = core.sessions.listText();
    return { items: isNative(dialect) ? new RawJson(text) : JSON.parse(text) };
  },

  fetchTurns: async (core, { dialect }, params) => {
    const session = await core.sessions.open(params.channel);
    if (!session) throw core.unknownChannel(params.channel);
    return session.fetchTurns(params, isNative(dialect));
  },

  resolveSessionConfig: (core, _connection, params) => core.sessions.choices.resolve(params),

  sessionConfigCompletions: async (core, _connection, params) => ({
    items: await core.sessions.choices.completions(params),
  }),

  initialize: secondHandshake,
  reconnect: secondHandshake,
};

function clientOf({ auth }: HostCore, connection: Connection): Creator {
  return { clientId: connection.identity?.clientId, mayUse: (agent) => auth.check(connection, agent) };
}

function secondHandshake(): never {
  throw new RequestError(ErrorCode.InvalidRequest, 'the handshake is done already');
}

/** Requests of our own, beside the protocol. Other hosts do not know them. */
const extensions: ReadonlyMap<string, Handler<Params>> = new Map<string, Handler<Params>>([
  [
    'atrium/restoreSession',
    async (core, _connection, { channel }) => {
      await core.sessions.restore(String(channel));
      return null;
    },
  ],
  ['atrium/pairings', ({ pairings }) => ({ items: pairings.look() })],
  ['atrium/declinePairing', ({ pairings }, _connection, { id }) => ({ wasOpen: pairings.decline(String(id)) })],
  ['atrium/listDisposed', ({ sessions }) => ({ items: sessions.disposed() })],
  [
    'atrium/importSession',
    async (core, connection, params) => {
      const page = readImportPage(params, connection);
      if (page) await core.sessions.import(page, clientOf(core, connection));
      return null;
    },
  ],
  [
    'atrium/keepContent',
    async ({ contents }, connection, params) => {
      await keepImported(contents, params, connection);
      return null;
    },
  ],
]);

export const extensionMethods: ReadonlySet<string> = new Set(extensions.keys());

export function answerRequest(core: HostCore, connection: Connection, method: string, params: Params): unknown {
  for (const { requests } of core.services) {
    const serve = requests?.[method as ClientRequestMethod] as ServiceHandler | undefined;
    if (serve) return serve(connection, params);
  }
  const handler = (extensions.get(method) ?? handlers[method as ClientRequestMethod]) as Handler<Params> | undefined;
  if (!handler) throw new RequestError(ErrorCode.MethodNotFound, `this host does not offer ${method} yet`);
  return handler(core, connection, params);
}

/** They look at folders and ask Git, and nothing that comes later depends on them. */
const ASIDE: ReadonlySet<string> = new Set(['resolveSessionConfig', 'sessionConfigCompletions']);

/** Where a request of this method waits; see `Lane`. */
export function laneOf(core: HostCore, method: string): Lane {
  if (ASIDE.has(method)) return 'aside';
  for (const { lanes } of core.services) {
    const lane = lanes?.[method as ClientRequestMethod];
    if (lane) return lane;
  }
  return 'main';
}
