/**
 * The sessions-process protocol, version 1, as a dialect: translates its calls into internal ones, and the host's
 * messages into its frames. Only this folder knows its shapes.
 */

import type { StateAction } from '../../actions.js';
import { channelKind, ROOT_CHANNEL } from '../../channels.js';
import { ErrorCode } from '../../errors/codes.js';
import type { ClientRequestMethod, HostNotifications } from '../../methods.js';
import type { JsonRpcErrorObject } from '../../rpc.js';
import {
  type ActionFrame,
  type Call,
  type Dialect03,
  type DialectConnection,
  type EchoStamp,
  type Frame,
  type HostView,
  type InboundNotification,
  type InboundRequest,
  NO_MEMORY,
  type OriginalAction,
  type Params,
  type RejectionStamp,
} from '../dialect-0.3.js';
import { acceptedSteps, translateSteps } from './actions.js';
import { messageFromWire } from './messages.js';
import {
  contentReply,
  createSession,
  disposeSession,
  fail,
  fetchTurns,
  forward,
  type Inbound,
  initialize,
  isObject,
  listSessions,
  type RequestTranslator,
  reconnect,
  shownSnapshot,
  subscribe,
  withoutNulls,
} from './requests.js';
import { summaryToWire } from './state.js';
import { pendingRequests, remember, resultId } from './tool-calls.js';
import { SESSIONS_V1 } from './traits.js';
import {
  channelFromWire,
  DEFAULT_ROOT_URI,
  isRootUri,
  type ProviderOf,
  rootUriOf,
  SLASHED_ROOT_URI,
  sessionFromWire,
  sessionToWire,
} from './uris.js';
import type {
  SessionsV1ActionEnvelope,
  SessionsV1Notification,
  SessionsV1RootUri,
  SessionsV1UserMessage,
} from './wire.js';

export const sessionsV1: Dialect03 = {
  traits: SESSIONS_V1,
  isOfferedIn: ({ protocolVersion, protocolVersions }) =>
    typeof protocolVersion === 'number' && protocolVersions === undefined,
  forConnection: (connection) => (rootUriOf(connection) === SLASHED_ROOT_URI ? slashed : sessionsV1),
  wireChannels: (channel, view) => wireChannels(channel, DEFAULT_ROOT_URI, view),
  channelOf: (wireChannel, { providerOf }) => channelFromWire(wireChannel, providerOf),
  request: translateRequest,
  notification: translateNotification,
  encodeError: errorToWire,
  encodeSnapshot: shownSnapshot,
  remember: (memory, steps) => acceptedSteps(steps).reduce(remember, memory),
  encodeSteps: (memory, steps) => {
    const { frames, ...rest } = translateSteps(memory, steps);
    return { ...rest, frames: frames.map(actionFrame) };
  },
  encodeEcho: ownActionFrame,
  encodeRejection: ownActionFrame,
  encodeNotification: (call, view) => notificationToWire(call, view.providerOf),
  canSend: () => false,
};

/** For connections that spell the root `agenthost:/root`: actions come flat and wrapped, in one message. */
const slashed: Dialect03 = {
  ...sessionsV1,
  wireChannels: (channel, view) => wireChannels(channel, SLASHED_ROOT_URI, view),
  encodeSteps: (memory, steps) => {
    const { frames, ...rest } = sessionsV1.encodeSteps(memory, steps);
    return { ...rest, frames: frames.map(withSlashedRoot).map(alsoFlat) };
  },
  encodeEcho: (original, stamp) => alsoFlat(sessionsV1.encodeEcho(original, stamp)),
  encodeRejection: (original, stamp) => alsoFlat(sessionsV1.encodeRejection(original, stamp)),
};

function wireChannels(channel: string, root: SessionsV1RootUri, { providerOf }: HostView): readonly string[] {
  const kind = channelKind(channel);
  if (kind === 'root') return [root];
  return kind === 'session' ? [sessionToWire(channel, providerOf(channel))] : [];
}

function withSlashedRoot(frame: ActionFrame): ActionFrame {
  return frame.channel === DEFAULT_ROOT_URI ? { ...frame, channel: SLASHED_ROOT_URI } : frame;
}

// Calls from clients

const requestTranslators: Readonly<Record<string, RequestTranslator>> = {
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

/** Not in sessions-v1, but harmless: they concern no channel that it lacks. Answered normally. */
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

function translateRequest(call: Call, connection: DialectConnection, view: HostView): InboundRequest {
  const params = withoutNulls(call.params);
  const inbound: Inbound = { method: call.method, params, connection: withRootSpelling(connection, params), view };
  const translate = Object.hasOwn(requestTranslators, call.method) ? requestTranslators[call.method] : undefined;
  if (translate) return translate(inbound);
  if (HARMLESS.has(call.method)) return passOn(inbound);
  return fail(inbound.connection, ErrorCode.MethodNotFound, `Version 1 has no method ${call.method}.`);
}

function translateNotification(call: Call, known: DialectConnection, view: HostView): InboundNotification {
  const connection = withRootSpelling(known, call.params);
  if (call.method === 'dispatchAction') return translateDispatch(call.params, connection, view);
  const { resource } = call.params;
  if (call.method !== 'unsubscribe' || typeof resource !== 'string') return { kind: 'ignore', connection };
  const channel = channelFromWire(resource, view.providerOf);
  if (channel === undefined) return { kind: 'ignore', connection };
  return { kind: 'forward', connection, method: 'unsubscribe', params: { channel } };
}

/** Remembers how the client spells the root; returns a new connection only when that changes. */
function withRootSpelling(connection: DialectConnection, params: Params): DialectConnection {
  const { resource, initialSubscriptions, subscriptions } = params;
  const rootUri = [resource, initialSubscriptions, subscriptions].flat().find(isRootUri);
  return rootUri === undefined || rootUri === rootUriOf(connection) ? connection : { ...connection, rootUri };
}

function passOn({ method, params, connection }: Inbound): InboundRequest {
  return { kind: 'forward', connection, method, params: onRoot(params), encodeResult: (result) => result };
}

function onRoot(params: Params): Params {
  return { ...params, channel: ROOT_CHANNEL };
}

type Body = Params & OriginalAction['action'];
type Translated = StateAction | { readonly reason: string };

const actionTranslators: Readonly<Record<string, (body: Body, channel: string, view: HostView) => Translated>> = {
  'session/turnStarted': turnStarted,
  'session/turnCancelled': turnCancelled,
  'session/modelChanged': modelChanged,
  'session/permissionResolved': permissionResolved,
};

/** Drops an action without a number and a type, which cannot be answered, and one for an unknown session. */
function translateDispatch(
  { clientSeq, action }: Params,
  connection: DialectConnection,
  view: HostView,
): InboundNotification {
  if (typeof clientSeq !== 'number' || !isObject(action) || !isTyped(action)) return { kind: 'ignore', connection };
  const session = typeof action.session === 'string' ? sessionFromWire(action.session, view.providerOf) : undefined;
  const isKnown = session !== undefined && view.providerOf(session) !== undefined;
  const reject = (reason: string, channel?: string): InboundNotification => {
    const original = { channel, action };
    return { kind: 'reject', connection, clientSeq, original, reason, ...(isKnown && { channel: session }) };
  };
  const translate = Object.hasOwn(actionTranslators, action.type) ? actionTranslators[action.type] : undefined;
  if (!translate) return reject(`Clients may not dispatch ${action.type} in version 1.`);
  if (session === undefined) return reject('The action names no session.');
  if (!isKnown) return { kind: 'ignore', connection };
  const translated = translate(action, session, view);
  if (!('type' in translated)) return reject(translated.reason, session);
  const original = { channel: session, action };
  return { kind: 'dispatch', connection, channel: session, clientSeq, action: translated, original };
}

function turnStarted({ turnId, userMessage }: Body): Translated {
  if (typeof turnId !== 'string') return { reason: 'turnId is malformed.' };
  if (!isUserMessage(userMessage)) return { reason: 'userMessage is malformed.' };
  return { type: 'session/turnStarted', turnId, userMessage: messageFromWire(userMessage) };
}

function turnCancelled({ turnId }: Body): Translated {
  return typeof turnId === 'string' ? { type: 'session/turnCancelled', turnId } : { reason: 'turnId is malformed.' };
}

function modelChanged({ model }: Body): Translated {
  return typeof model === 'string'
    ? { type: 'session/modelChanged', model: { id: model } }
    : { reason: 'model must be the id of a model.' };
}

/** An answer counts only for a question that is open now: the first answer wins. */
function permissionResolved({ turnId, requestId, approved }: Body, channel: string, view: HostView): Translated {
  if (typeof approved !== 'boolean') return { reason: 'approved must be true or false.' };
  const turn = view.sessionOf(channel)?.activeTurn;
  const requests = turn && turn.id === turnId ? pendingRequests(view.memoryOf(channel) ?? NO_MEMORY, turn) : [];
  const toolCallId = requests.find((request) => request.requestId === requestId)?.toolCallId;
  if (!turn || toolCallId === undefined) return { reason: 'No such permission request is open.' };
  const target = { turnId: turn.id, toolCallId };
  if (requestId === resultId(toolCallId)) return { type: 'session/toolCallResultConfirmed', ...target, approved };
  return approved
    ? { type: 'session/toolCallConfirmed', ...target, approved, confirmed: 'user-action' }
    : { type: 'session/toolCallConfirmed', ...target, approved, reason: 'denied' };
}

function isTyped(action: Params): action is Body {
  return typeof action.type === 'string';
}

function isUserMessage(value: unknown): value is SessionsV1UserMessage {
  if (!isObject(value) || typeof value.text !== 'string') return false;
  const { attachments } = withoutNulls(value);
  return attachments === undefined || (Array.isArray(attachments) && attachments.every(isAttachment));
}

function isAttachment(value: unknown): boolean {
  if (!isObject(value) || typeof value.path !== 'string') return false;
  const { displayName } = withoutNulls(value);
  return displayName === undefined || typeof displayName === 'string';
}

// Errors and notifications to clients

/** An unknown provider is an internal error with a fixed beginning; all other codes stay. */
function errorToWire({ code, message }: JsonRpcErrorObject): JsonRpcErrorObject {
  if (code !== ErrorCode.ProviderNotFound) return { code, message };
  return { code: ErrorCode.InternalError, message: `No agent for provider: ${message}` };
}

function actionFrame(envelope: SessionsV1ActionEnvelope): ActionFrame {
  const { action, origin } = envelope;
  const channel = 'session' in action ? action.session : DEFAULT_ROOT_URI;
  return { method: 'action', params: { envelope }, channel, origin };
}

/** The frame with the members of the envelope also directly in its parameters. */
function alsoFlat<Any extends Frame>(frame: Any): Any {
  const { envelope } = frame.params as { readonly envelope: SessionsV1ActionEnvelope };
  return { ...frame, params: { ...envelope, envelope } };
}

/** A client's own action, exactly as it was dispatched: clients match it with the first one that they wait for. */
function ownActionFrame({ action }: OriginalAction, stamp: EchoStamp | RejectionStamp): Frame {
  return { method: 'action', params: { envelope: { action, ...stamp } } };
}

function notificationToWire({ method, params }: Call, providerOf: ProviderOf): Frame | undefined {
  if (method === 'root/sessionAdded') {
    const { summary } = params as HostNotifications['root/sessionAdded'];
    return notificationFrame({ type: 'notify/sessionAdded', summary: summaryToWire(summary) });
  }
  if (method !== 'root/sessionRemoved') return undefined;
  const { session } = params as HostNotifications['root/sessionRemoved'];
  return notificationFrame({ type: 'notify/sessionRemoved', session: sessionToWire(session, providerOf(session)) });
}

function notificationFrame(notification: SessionsV1Notification): Frame {
  return { method: 'notification', params: { notification } };
}
