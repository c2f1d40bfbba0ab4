/** Every error code of the protocol, each with what its reader should do. */

export const ErrorCode = {
  /** The frame is not JSON. */
  ParseError: -32700,
  /** The frame is JSON, but not a request that may be sent now. */
  InvalidRequest: -32600,
  /** No such method. */
  MethodNotFound: -32601,
  /** The parameters do not fit the method; the message names the member. */
  InvalidParams: -32602,
  /** The host failed; its log says more. */
  InternalError: -32603,
  /** No session has this URI. List the sessions, or create it. */
  SessionNotFound: -32001,
  /** No agent has this provider id. Root state lists them. */
  ProviderNotFound: -32002,
  /** The URI is taken. Choose another. */
  SessionAlreadyExists: -32003,
  /** A turn is running. Queue the message, or wait. */
  TurnInProgress: -32004,
  /** No common protocol version; `data.supportedVersions` lists those that the host speaks. */
  UnsupportedProtocolVersion: -32005,
  /** No content behind this URI. (`resourceRead` answers NotFound instead.) */
  ContentNotFound: -32006,
  /** A token is needed first; `data.resources` says for what. */
  AuthRequired: -32007,
  /** No such file, folder or URI. */
  NotFound: -32008,
  /** Not allowed; `data.request` may name what would unlock it. */
  PermissionDenied: -32009,
  /** The resource exists and must not be overwritten. */
  AlreadyExists: -32010,
  /** The resource changed since it was read. Resolve it again, then retry. */
  Conflict: -32011,
} as const;

export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];
