/** A client of the Agent Host Protocol, for Node and browsers. Start with `connect`. */
export { BACKOFF_FACTOR, BACKOFF_HIDDEN_MS, BACKOFF_VISIBLE_MS } from './backoff.js';
export type { CallMethod, CallParams, CallResult } from './calls.js';
export type { Client, SessionUri, SubscribeOptions } from './client.js';
export type { Clock } from './clock.js';
export { connect } from './connect.js';
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
export { HEARTBEAT_MS } from './heartbeat.js';
export type { HostRequestHandlers } from './host-requests.js';
export type { Log } from './log.js';
export { type ClientOptions, type ConnectOptions, REQUEST_TIMEOUT_MS } from './options.js';
export type { Accepted } from './outbox.js';
export { type PublishedFiles, serveResources } from './published.js';
export type { PendingAction } from './reconcile.js';
export type { ActionOf, KindOf, StateOf } from './reducers.js';
export type { SessionList } from './session-list.js';
export type { Status } from './status.js';
export { STREAM_MAX_WAITING } from './streams.js';
export type { Subscription } from './subscription.js';
export {
  type SectionTexts,
  type SystemMessageTransform,
  TRANSFORM_ANSWER_MAX_BYTES,
  type TransformContext,
} from './transform.js';
export { CLOSE_REPLACED, type CloseReason, type Transport, type TransportFactory } from './transport.js';
export { memoryPair } from './transports/memory.js';
export { messagePortTransport, type PortLike } from './transports/message-port.js';
export { type TokenSource, type WebSocketOptions, webSocketTransport } from './transports/websocket.js';
export type { TurnWindow, WindowPosition } from './window.js';
