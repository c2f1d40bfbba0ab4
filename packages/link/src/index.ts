/** Shared by both ends of an Atrium connection. Knows no protocol. */
export { BACKOFF_FACTOR, type BackoffRange, backoffDelay } from './backoff.js';
export { type Clock, steadyClock, systemClock, wallClock } from './clock.js';
export { consoleLog, Emitter, type Log } from './emitter.js';
export { newId } from './ids.js';
export {
  type Outcome,
  PendingById,
  type PendingByIdOptions,
  PendingRequests,
  type PendingRequestsOptions,
} from './pending-requests.js';
export { asError, type Deferred, deferred, optional } from './promises.js';
export {
  type CloseReason,
  memoryPair,
  messagePortTransport,
  type PortLike,
  type Transport,
  type TransportFactory,
} from './transport.js';
export { isNode, onlyCertificate, openSocket, type SocketLike, socketOpened, transportOver } from './websocket.js';
