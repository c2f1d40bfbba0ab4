/**
 * Limits that providers and the gateway both know; the gateway's own are in its folder. A megabyte is `2 ** 20` bytes.
 */

/** The one version of the contract that this package describes. */
export const PROVIDER_PROTOCOL_VERSION = 2;

// The process.

/** Where providers look for the gateway by default. */
export const GATEWAY_DEFAULT_PORT = 9_400;
/** Spans the reconnect window, so that late providers and sessions still find the gateway. */
export const EXIT_GRACE_MS = 30_000;
/** WebSocket close code when the gateway exits: going away, not an error. */
export const EXIT_CLOSE_CODE = 1001;

// Connections.

/** Bounds the connections that other programs on this machine can hold open. */
export const CONNECTIONS_MAX = 50;
/** HTTP status of a refused upgrade: the caller may come back later. */
export const CONNECTIONS_FULL_HTTP_STATUS = 503;
/** A socket that never authenticates must not occupy a connection. */
export const AUTH_TIMEOUT_MS = 10_000;
/** Room for honest mistakes before authentication, not for probing. */
export const ILLEGAL_MESSAGES_BEFORE_AUTH_MAX = 5;
/** Finds dead peers that never closed their socket. */
export const PING_INTERVAL_MS = 15_000;
/** One lost answer may be a delay; after the second the peer counts as dead. */
export const MISSED_PINGS_MAX = 2;

// Pairing.

/** Short enough to type; safe because each connection has one guess, and guesses per minute are limited. */
export const PAIRING_CODE_DIGITS = 6;
/** Long enough to read and type, too short to be found later. */
export const PAIRING_CODE_TTL_MS = 120_000;
/** Counted over the whole gateway, since each failure closes its socket. */
export const PAIRING_ATTEMPTS_PER_MINUTE_MAX = 5;

// Binding.

/** Stops a connection from churning through identities. */
export const REBINDS_PER_MINUTE_MAX = 10;
/** From disconnect: how long a reconnect token restores the binding and fail-closed gates stay armed. */
export const RECONNECT_WINDOW_MS = 30_000;
/** Names go into paths, stream keys and tool names. */
export const NAME_MAX_CHARS = 64;

// Sizes.

/** Screenshots and long outputs pass; anything larger goes by file. */
export const TOOL_RESULT_MAX_BYTES = 5 * 2 ** 20;
/** Every message but `tool.result`. */
export const MESSAGE_MAX_BYTES = 2 * 2 ** 20;
/** A frame up to this size is read and then checked by its type; a larger one is not read. */
export const FRAME_MAX_BYTES = 16 * 2 ** 20;
/** WebSocket close code of a frame that is not read: message too big. */
export const FRAME_TOO_BIG_CLOSE_CODE = 1009;
/** A result by file is still loaded into a session. */
export const FILE_RESULT_MAX_BYTES = 64 * 2 ** 20;

// Tools.

/** Keeps the list of tools readable for a model. */
export const TOOLS_PER_PROVIDER_MAX = 100;
/** Further calls fail at once, so that the model learns about the congestion. */
export const QUEUED_CALLS_MAX = 10;
/** For tools that name no timeout of their own. */
export const TOOL_TIMEOUT_DEFAULT_MS = 60_000;
/** After this long a cancelled call gives its slot back, answered or not. */
export const CANCELLED_SLOT_RELEASE_MS = 5_000;
/** A retryable failure is tried on one other instance, never in a circle. */
export const INSTANCE_RETRIES_MAX = 1;

// Hooks and transforms.

/** Every rule is tried on every tool call of the session. */
export const HOOK_RULES_PER_PROVIDER_MAX = 50;
/** A gate holds up the model; silence beyond this means deny. */
export const GATE_TIMEOUT_MS = 5_000;
/** One try of one pattern; a pattern that backtracks without end must not stop the gateway. */
export const MATCH_BUDGET_MS = 1;
/** A transform holds up the prompt; silence beyond this leaves the section as it was. */
export const TRANSFORM_TIMEOUT_MS = 2_000;

// Push and streams.

/** For each pair of provider and session. */
export const PUSHES_PER_SECOND_MAX = 10;
/** Injects that wait for a busy session. */
export const HELD_INJECTS_MAX = 10;
/** Turns started by one provider with no human turn between; the next inject is paused. */
export const INJECT_CYCLES_MAX = 3;
/** How long to wait after RATE_LIMITED. */
export const RATE_LIMIT_RETRY_AFTER_MS = 1_000;
/** Streams live in memory. */
export const STREAMS_PER_PROVIDER_MAX = 20;
/** The oldest events make room. */
export const EVENTS_PER_STREAM_MAX = 200;
/** A larger `last` is cut down to this. */
export const STREAM_QUERY_LAST_MAX = 100;

// The end of a session.

/** The time that providers have to clean up before the session is torn down. */
export const SHUTDOWN_DEADLINE_MS = 10_000;
