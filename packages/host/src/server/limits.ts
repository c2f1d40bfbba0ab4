/** Limits of the port: how many connections, how often strangers may try, and how soon a silent peer is dropped. */

export const CLIENTS_MAX = 256;
export const UNAUTHENTICATED_MAX = 32;
export const HEARTBEAT_MS = 15_000;
/** Time limit for the TLS handshake. */
export const TLS_HANDSHAKE_TIMEOUT_MS = 10_000;
/** How often the host checks the files of certificate and key for changes. */
export const TLS_CHECK_MS = 5_000;
/** The size limit of a certificate or key file; real chains of certificates are far smaller. */
export const TLS_FILE_MAX_BYTES = 256 * 2 ** 10;

/** The window of the rates below. */
export const RATE_WINDOW_MS = 60_000;
/** Wrong or missing tokens from one address; later attempts wait. */
export const FAILURES_PER_ADDRESS_MAX = 10;
/** Wrong or missing tokens from all addresses beyond this machine together. */
export const FAILURES_TOTAL_MAX = 100;
/** Each failure above the limit makes the next attempt wait this much longer, up to the longest wait. */
export const ATTEMPT_DELAY_STEP_MS = 1_000;
export const ATTEMPT_DELAY_MAX_MS = 30_000;
/** Attempts of one address that may wait at once; further ones get 429. */
export const ATTEMPTS_WAITING_MAX = 4;
/** WebSocket upgrades from beyond this machine, whether they succeed or not. */
export const UPGRADES_PER_ADDRESS_MAX = 120;
export const UPGRADES_TOTAL_MAX = 1_200;
/** Addresses that the rates remember; the oldest is forgotten first. */
export const ADDRESSES_COUNTED_MAX = 4_096;

/**
 * How long connections with the old token stay open after a change, so that the client that asked for it gets the
 * answer.
 */
export const TOKEN_CHANGED_MS = 500;

/** The body of a POST to a route of the host: a code, a name. */
export const ROUTE_BODY_MAX_BYTES = 16 * 2 ** 10;
export const ROUTE_BODY_TIMEOUT_MS = 10_000;
