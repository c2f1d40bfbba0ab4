/** The error codes of the provider interface, each with what its reader should do. */

/** Why the gateway refused a message. */
export const GatewayErrorCode = {
  /** Not a JSON object with a string `type`, or not the shape of its type. Correct the message and send it again. */
  InvalidJson: 'INVALID_JSON',
  /** No such type, or not legal in this state; the text says which. Check the version, or wait for the right state. */
  UnknownType: 'UNKNOWN_TYPE',
  /** No such session, or not yours. Wait for `sessions.updated`, then choose another. */
  InvalidSession: 'INVALID_SESSION',
  /** The token or the pairing code is wrong. The connection closes: get a new token, or pair again. */
  AuthFailed: 'AUTH_FAILED',
  /** Another connection is this name and instance. Choose another instance, or show its reconnect token. */
  DuplicateInstance: 'DUPLICATE_INSTANCE',
  /** The tool name is taken in this session. Rename the tool and send the whole message again. */
  ToolConflict: 'TOOL_CONFLICT',
  /** Too many of these just now. Wait a second, then try again. */
  RateLimited: 'RATE_LIMITED',
  /** Too big, or one more than may be registered. Send less, or leave a file. */
  PayloadTooLarge: 'PAYLOAD_TOO_LARGE',
  /** The gateway does not speak this version. The connection closes: update the provider. */
  UnsupportedVersion: 'UNSUPPORTED_VERSION',
  /** Not for your trust level; nothing of the message was applied. Leave that part out. */
  Unauthorized: 'UNAUTHORIZED',
} as const;
export type GatewayErrorCode = (typeof GatewayErrorCode)[keyof typeof GatewayErrorCode];

/** After one of these the gateway closes the connection; after any other it stays open. */
export const FATAL_GATEWAY_ERRORS: ReadonlySet<GatewayErrorCode> = new Set([
  GatewayErrorCode.AuthFailed,
  GatewayErrorCode.UnsupportedVersion,
]);

/** Why a tool call failed, as the model is told. */
export const ToolErrorCode = {
  /** What the call is about does not exist. Call again with something else. */
  NotFound: 'NOT_FOUND',
  /** No answer in time. Ask for less, or give the tool a longer `timeout`. */
  Timeout: 'TIMEOUT',
  /** Stopped before it ended. Call again only if the result is still wanted. */
  Cancelled: 'CANCELLED',
  /** The provider disconnected during the call. The call may have taken effect: check before calling again. */
  Disconnected: 'DISCONNECTED',
  /** The provider may not do this. Do not retry. */
  Unauthorized: 'UNAUTHORIZED',
  /** The provider failed; the text says more. */
  Internal: 'INTERNAL',
  /** Too many calls are waiting for this provider. Made by the gateway; call again later. */
  RateLimited: 'RATE_LIMITED',
} as const;
export type ToolErrorCode = (typeof ToolErrorCode)[keyof typeof ToolErrorCode];
