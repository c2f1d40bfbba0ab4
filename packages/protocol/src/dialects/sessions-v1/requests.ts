/** Translates the requests of this wire into internal ones, and their results back. */

import { ROOT_CHANNEL } from '../../channels.js';
import type { Snapshot } from '../../common/envelope.js';
import { ErrorCode } from '../../errors/codes.js';
import type { ClientRequestMethod, ClientRequests } from '../../methods.js';
import { AHP_0_3_VERSION } from '../../versions/versions.js';
import type { DialectConnection, HostView, InboundRequest, Params } from '../dialect-0.3.js';
import { compact } from './messages.js';
import { snapshotToWire, summaryToWire, turnToWire } from './state.js';
import { WIRE_VERSION } from './traits.js';
import { channelFromWire, newSessionFromWire, rootUriOf, SLASHED_ROOT_URI, sessionFromWire } from './uris.js';
import type {
  SessionsV1ActionEnvelope,
  SessionsV1FetchContentResult,
  SessionsV1FetchTurnsResult,
  SessionsV1InitializeResult,
  SessionsV1ListSessionsResult,
  SessionsV1ReconnectResult,
  SessionsV1Snapshot,
  SessionsV1SubscribeResult,
} from './wire.js';

// Opening, resuming, subscribing. Channels that this wire lacks are omitted, or answered as not found.

/** The host negotiates the version of the internal model for a sessions-v1 client. */
const INTERNAL_VERSIONS = [AHP_0_3_VERSION];

export function initialize(inbound: Inbound): InboundRequest {
  const { params, connection, view } = inbound;
  const { protocolVersion, clientId, initialSubscriptions } = params;
  if (protocolVersion !== WIRE_VERSION) {
    const message = `Version ${protocolVersion} is not spoken here; ${WIRE_VERSION} is.`;
    return fail(connection, ErrorCode.UnsupportedProtocolVersion, message);
  }
  if (initialSubscriptions !== undefined && !isStringList(initialSubscriptions)) {
    return malformed(inbound, 'initialSubscriptions');
  }
  const channels = initialSubscriptions && channelsOf(initialSubscriptions, view);
  const forwarded = { channel: ROOT_CHANNEL, protocolVersions: INTERNAL_VERSIONS, clientId };
  return forward(
    connection,
    'initialize',
    compact({ ...forwarded, initialSubscriptions: channels }),
    (result, resultView) => initializeReply(result, connection, resultView),
  );
}

export function reconnect(inbound: Inbound): InboundRequest {
  const { params, connection, view } = inbound;
  const { clientId, lastSeenServerSeq, subscriptions } = params;
  if (!isStringList(subscriptions)) return malformed(inbound, 'subscriptions');
  const known = { channel: ROOT_CHANNEL, clientId, lastSeenServerSeq, subscriptions: channelsOf(subscriptions, view) };
  return forward(connection, 'reconnect', known, (result, resultView) =>
    reconnectReply(result, connection, resultView),
  );
}

export function subscribe(inbound: Inbound): InboundRequest {
  const { params, connection, view } = inbound;
  const { resource } = params;
  if (typeof resource !== 'string') return malformed(inbound, 'resource');
  const channel = channelFromWire(resource, view.providerOf);
  if (channel === undefined) {
    return fail(connection, ErrorCode.NotFound, `Version 1 has no channel ${resource}.`);
  }
  return forward(connection, 'subscribe', { channel }, (result, resultView) =>
    subscribeReply(result, connection, resultView),
  );
}

function channelsOf(uris: readonly string[], { providerOf }: HostView): string[] {
  return uris.flatMap((uri) => channelFromWire(uri, providerOf) ?? []);
}

// Sessions and their turns

export function createSession(inbound: Inbound): InboundRequest {
  const { params, connection, view } = inbound;
  const { session, provider, model, workingDirectory } = params;
  if (typeof session !== 'string') return malformed(inbound, 'session');
  if (provider !== undefined && typeof provider !== 'string') return malformed(inbound, 'provider');
  if (model !== undefined && typeof model !== 'string') return malformed(inbound, 'model');
  const created = newSessionFromWire(session, provider);
  const taken = sessionFromWire(session, view.providerOf);
  if (taken !== created.channel && view.providerOf(taken) !== undefined) {
    return fail(connection, ErrorCode.SessionAlreadyExists, `${session} is in use. Choose another URI.`);
  }
  const selection = model === undefined ? undefined : { id: model };
  return forward(
    connection,
    'createSession',
    compact({ ...created, model: selection, workingDirectory }),
    (result) => result,
  );
}

export function disposeSession(inbound: Inbound): InboundRequest {
  const { params, connection, view } = inbound;
  if (typeof params.session !== 'string') return malformed(inbound, 'session');
  const channel = sessionFromWire(params.session, view.providerOf);
  return forward(connection, 'disposeSession', { channel }, (result) => result);
}

export function listSessions({ params, connection }: Inbound): InboundRequest {
  const { filter } = params;
  return forward(connection, 'listSessions', compact({ channel: ROOT_CHANNEL, filter }), (result) =>
    listSessionsReply(result, connection),
  );
}

/** Turns by index: oldest is 0, `end` is exclusive and absent for "to the last". */
export interface TurnRange {
  readonly start: number;
  readonly end?: number;
}

/**
 * Variants of this wire page backwards from a turn, or slice by index. A slice is passed on as a member
 * `range: { start, end? }`, and the host's answer then has `startTurn` and `totalTurns` too.
 */
export function fetchTurns(inbound: Inbound): InboundRequest {
  const { params, connection, view } = inbound;
  const { session } = params;
  if (typeof session !== 'string') return malformed(inbound, 'session');
  const channel = sessionFromWire(session, view.providerOf);
  const asked = isObject(params.range) ? { ...params, ...withoutNulls(params.range) } : params;
  if (!isIndexed(asked)) {
    return forward(connection, 'fetchTurns', page(channel, asked), turnsReply);
  }
  const range = sliceOf(asked);
  if (!range) return malformed(inbound, 'range');
  return forward(connection, 'fetchTurns', { channel, range }, (result) =>
    indexedTurnsReply(session, result as IndexedTurns),
  );
}

function page(channel: string, { before, limit }: Params): Params {
  return compact({ channel, before, limit });
}

function isIndexed({ start, end, startTurn, count }: Params): boolean {
  return [start, end, startTurn, count].some((member) => member !== undefined);
}

function sliceOf({ start, end, startTurn, count }: Params): TurnRange | undefined {
  if (!isIndex(start) || !isIndex(end) || !isIndex(startTurn) || !isIndex(count)) return undefined;
  const first = start ?? startTurn ?? 0;
  return compact({ start: first, end: end ?? (count === undefined ? undefined : first + count) });
}

// Results

type Result<Method extends keyof ClientRequests> = ClientRequests[Method]['result'];

/** What the host adds to a page of turns by index. */
export type IndexedTurns = Result<'fetchTurns'> & { readonly startTurn: number; readonly totalTurns: number };

function initializeReply(
  result: Result<'initialize'>,
  connection: DialectConnection,
  view: HostView,
): SessionsV1InitializeResult {
  const { serverSeq, snapshots, defaultDirectory } = result;
  return compact({
    protocolVersion: WIRE_VERSION,
    serverSeq,
    snapshots: shownSnapshots(snapshots, connection, view),
    defaultDirectory,
  });
}

/** The host replays only actions that it translated when they happened; this wire has no `missing`. */
function reconnectReply(
  result: Result<'reconnect'>,
  connection: DialectConnection,
  view: HostView,
): SessionsV1ReconnectResult {
  if (result.type === 'replay')
    return { type: 'replay', actions: result.actions as unknown as SessionsV1ActionEnvelope[] };
  return { type: 'snapshot', snapshots: shownSnapshots(result.snapshots, connection, view) };
}

function subscribeReply(
  { snapshot }: Result<'subscribe'>,
  connection: DialectConnection,
  view: HostView,
): SessionsV1SubscribeResult | null {
  const shown = snapshot && shownSnapshot(snapshot, connection, view);
  if (!shown) return null;
  return isLaterGeneration(connection) ? { ...shown, snapshot: shown } : shown;
}

function listSessionsReply(
  { items }: Result<'listSessions'>,
  connection: DialectConnection,
): SessionsV1ListSessionsResult {
  const sessions = items.map(summaryToWire);
  return isLaterGeneration(connection) ? { sessions, items: sessions } : sessions;
}

function turnsReply({ turns, hasMore }: Result<'fetchTurns'>): SessionsV1FetchTurnsResult {
  return { turns: turns.map(turnToWire), hasMore };
}

function indexedTurnsReply(session: string, result: IndexedTurns): SessionsV1FetchTurnsResult {
  return { session, startTurn: result.startTurn, totalTurns: result.totalTurns, ...turnsReply(result) };
}

export function contentReply({ data, encoding, contentType }: Result<'resourceRead'>): SessionsV1FetchContentResult {
  return compact({ data, encoding, mimeType: contentType });
}

export function shownSnapshot(
  snapshot: Snapshot,
  connection: DialectConnection,
  view: HostView,
): SessionsV1Snapshot | undefined {
  return snapshotToWire(snapshot, { rootUri: rootUriOf(connection), memory: view.memoryOf(snapshot.resource) });
}

function shownSnapshots(
  snapshots: readonly Snapshot[],
  connection: DialectConnection,
  view: HostView,
): SessionsV1Snapshot[] {
  return snapshots.flatMap((snapshot) => shownSnapshot(snapshot, connection, view) ?? []);
}

/** Clients that spell the root with a slash expect two results in a newer form. */
function isLaterGeneration(connection: DialectConnection): boolean {
  return rootUriOf(connection) === SLASHED_ROOT_URI;
}

// Shared by all requests

/** A request. `connection` already knows how this request spells the root. */
export interface Inbound {
  readonly method: string;
  readonly params: Params;
  readonly connection: DialectConnection;
  readonly view: HostView;
}

export type RequestTranslator = (inbound: Inbound) => InboundRequest;

/** Passes a request on. The result comes from our own host, so its type is trusted. */
export function forward<Method extends ClientRequestMethod>(
  connection: DialectConnection,
  method: Method,
  params: Params,
  encode: (result: ClientRequests[Method]['result'], view: HostView) => unknown,
): InboundRequest {
  const encodeResult = (result: unknown, view: HostView) => encode(result as ClientRequests[Method]['result'], view);
  return { kind: 'forward', connection, method, params, encodeResult };
}

export function fail(connection: DialectConnection, code: ErrorCode, message: string): InboundRequest {
  return { kind: 'fail', connection, error: { code, message } };
}

function malformed({ connection, method }: Inbound, member: string): InboundRequest {
  return fail(connection, ErrorCode.InvalidParams, `${method}: \`${member}\` is missing or malformed.`);
}

export function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** On this wire, null means absent. */
export function withoutNulls(params: Params): Params {
  return Object.fromEntries(Object.entries(params).filter(([, member]) => member !== null));
}

function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** True for a count or an index, or an absent value. */
function isIndex(value: unknown): value is number | undefined {
  return value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0);
}
