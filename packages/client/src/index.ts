/** A client of the Agent Host Protocol, for Node and browsers. Start with `connect`. */

export type { Clock, Log } from '@atrium/link';
export {
  BACKOFF_FACTOR,
  type CloseReason,
  memoryPair,
  messagePortTransport,
  type PortLike,
  type Transport,
  type TransportFactory,
} from '@atrium/link';
export type {
  Client,
  CreateChatOptions,
  CreationProgress,
  LongRequestOptions,
  OpenOptions,
  SubscribeOptions,
} from './client.js';
export { connect } from './client.js';
export type { Status } from './connection.js';
export { BACKOFF_HIDDEN_MS, BACKOFF_VISIBLE_MS, CLOSE_REPLACED } from './connection.js';
export type { HostInfo } from './engine.js';
export {
  AccessRefusedError,
  ActionOutcomeUnknownError,
  ActionRejectedError,
  ChannelGoneError,
  ClientClosedError,
  DisconnectedError,
  InvalidResultError,
  RequestError,
  type RequestErrorName,
  RequestTimeoutError,
} from './errors.js';
export { PROTOCOL_VERSIONS } from './handshake.js';
export type { HostRequestHandlers } from './host-requests.js';
export { type PublishedFiles, serveResources } from './host-requests.js';
export type {
  ActionOf,
  ChatUri,
  DispatchedAction,
  DispatchOf,
  KindOf,
  SessionUri,
  StateOf,
  UserMessage,
} from './kinds.js';
export type { OpenSession, OpenSessionState } from './open-session.js';
export { type ClientOptions, type ConnectOptions, REQUEST_TIMEOUT_MS } from './options.js';
export type { CallMethod, CallParams, CallResult } from './peer.js';
export { HEARTBEAT_MS } from './peer.js';
export type { Accepted } from './pending-actions.js';
export type { PendingAction, TurnWindow } from './reconcile.js';
export type { SessionList } from './session-list.js';
export { STREAM_MAX_WAITING } from './streams.js';
export type { Subscription } from './subscription.js';
export {
  type SectionTexts,
  type SystemMessageTransform,
  TRANSFORM_ANSWER_MAX_BYTES,
  type TransformContext,
} from './transform.js';
export { type TokenSource, type WebSocketOptions, webSocketTransport } from './websocket.js';
