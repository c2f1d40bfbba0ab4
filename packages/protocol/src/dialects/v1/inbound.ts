/** Calls from version-1 clients: a table of its own requests, and those of later versions that do no harm. */
import { ROOT_CHANNEL } from '../../channels.js';
import { ErrorCode } from '../../errors/codes.js';
import type { ClientRequestMethod } from '../../methods.js';
import type { Call, DialectConnection, HostView, InboundNotification, InboundRequest, Params } from '../dialect.js';
import { initialize, reconnect, subscribe } from './connection-requests.js';
import { translateDispatch } from './dispatch.js';
import { fetchTurns } from './fetch-turns.js';
import { withoutNulls } from './read.js';
import { contentReply } from './replies.js';
import { fail, forward, type Inbound, type RequestTranslator } from './requests.js';
import { createSession, disposeSession, listSessions } from './session-requests.js';
import { channelFromV1, isRootUri } from './uris.js';

const translators: Readonly<Record<string, RequestTranslator>> = {
  initialize,
  reconnect,
  subscribe,
  createSession,
  disposeSession,
  listSessions,
  fetchTurns,
  fetchContent: ({ params, connection }) =>
    forward(connection, 'resourceRead', onRoot({ uri: params.uri }), contentReply),
  browseDirectory: ({ params, connection }) =>
    forward(connection, 'resourceList', onRoot({ uri: params.uri }), (result) => result),
};

/** Not in version 1, but they concern no channel that it does not have: answered normally. */
const HARMLESS: ReadonlySet<string> = new Set<ClientRequestMethod>([
  'ping',
  'authenticate',
  'resolveSessionConfig',
  'sessionConfigCompletions',
  'resourceRead',
  'resourceWrite',
  'resourceList',
  'resourceCopy',
  'resourceDelete',
  'resourceMove',
  'resourceResolve',
  'resourceMkdir',
  'resourceRequest',
]);

export function translateRequest(call: Call, connection: DialectConnection, view: HostView): InboundRequest {
  const params = withoutNulls(call.params);
  const inbound: Inbound = { method: call.method, params, connection: withRootSpelling(connection, params), view };
  const translate = Object.hasOwn(translators, call.method) ? translators[call.method] : undefined;
  if (translate) return translate(inbound);
  if (HARMLESS.has(call.method)) return passOn(inbound);
  return fail(inbound.connection, ErrorCode.MethodNotFound, `Version 1 has no method ${call.method}.`);
}

export function translateNotification(call: Call, known: DialectConnection, view: HostView): InboundNotification {
  const connection = withRootSpelling(known, call.params);
  if (call.method === 'dispatchAction') return translateDispatch(call.params, connection, view);
  const { resource } = call.params;
  if (call.method !== 'unsubscribe' || typeof resource !== 'string') return { kind: 'ignore', connection };
  const channel = channelFromV1(resource, view.providerOf);
  if (channel === undefined) return { kind: 'ignore', connection };
  return { kind: 'forward', connection, method: 'unsubscribe', params: { channel } };
}

/** A client is known by the root it asks for; the connection is a new value only when that changes. */
function withRootSpelling(connection: DialectConnection, params: Params): DialectConnection {
  const { resource, initialSubscriptions, subscriptions } = params;
  const rootUri = [resource, initialSubscriptions, subscriptions].flat().find(isRootUri);
  return rootUri === undefined || rootUri === connection.rootUri ? connection : { ...connection, rootUri };
}

function passOn({ method, params, connection }: Inbound): InboundRequest {
  return { kind: 'forward', connection, method, params: onRoot(params), encodeResult: (result) => result };
}

function onRoot(params: Params): Params {
  return { ...params, channel: ROOT_CHANNEL };
}
