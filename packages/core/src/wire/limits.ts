/** Limits of connections: what one client may send, leave waiting, and come back to. */

/** How often a resume starts over because something was stored while it read; after that the client gets a snapshot. */
export const REPLAY_TRIES_MAX = 3;

/** How many of a client's newest actions keep their answers for a resend: as many as can be replayed to it. */
export const SENT_ACTIONS_KEPT_MAX = 1_000;
/** Gaps between the numbers of one client; with more, the host begins a new epoch for it. */
export const SCATTERED_NUMBERS_MAX = 1_000;
/** The reason for a rejection is cut to this length, because it is kept for resends. */
export const REJECTION_MAX_CHARACTERS = 1_000;

/** How much may wait for a slow client before its connection is closed with 4001; it comes back and resumes. */
export const OUTBOX_MAX_MESSAGES = 1_024;
export const OUTBOX_MAX_BYTES = 16 * 2 ** 20;
/** Terminal output that waits is merged up to this length. */
export const MERGED_OUTPUT_MAX_CHARACTERS = 64 * 2 ** 10;
/** When more bytes wait than this, text deltas are merged. */
export const OUTBOX_MERGE_BYTES = 64 * 2 ** 10;

/** The largest frame that is answered; a larger one gets an error. */
export const CLIENT_FRAME_MAX_BYTES = 2 * 10 ** 6;
/** The largest frame that is read at all; a larger one closes the connection. */
export const PAYLOAD_MAX_BYTES = 8 * 2 ** 20;

/** Messages of one client that may wait to be served. */
export const INBOUND_MAX_MESSAGES = 10_000;
export const INBOUND_MAX_CHARACTERS = 64 * 2 ** 20;

/**
 * While storing is behind, this much of each client's input is still read, so that its pings are; the rest stays in the
 * socket.
 */
export const INBOUND_HELD_MAX_CHARACTERS = 64 * 2 ** 10;

export const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Requests that a connection may send before its handshake. */
export const REQUESTS_BEFORE_HANDSHAKE_MAX = 32;
/** Longest client id and locale: both are stored for every client that ever connected. */
export const CLIENT_ID_MAX_CHARACTERS = 500;

/** A client that has been away for longer has to start over. */
export const CLIENT_KEPT_MS = 30 * 24 * 60 * 60 * 1_000;
/** How many clients can come back. Above that, those that were away longest have to start over. */
export const CLIENTS_KEPT_MAX = 10_000;
/** How precisely the host records when a client was last here. */
export const CLIENT_NOTED_EVERY_MS = 24 * 60 * 60 * 1_000;

/** First id of requests to clients, so high that it never equals an id that the client itself is waiting for. */
export const FIRST_HOST_REQUEST_ID = 1_000_000_001;
export const HOST_REQUEST_TIMEOUT_MS = 10_000;
/**
 * Text is held back for a client no longer than this, even if it asks for more: longer looks like a host that hangs.
 */
export const TEXT_HELD_MAX_MS = 1_000;

/**
 * For how many chats per client the host remembers which turns it has loaded. For others, a returning client gets a
 * snapshot.
 */
export const WINDOWED_CHATS_MAX = 256;
/** How many loading steps of one chat are kept apart. Older ones are merged into the one with fewer turns. */
export const WINDOW_STEPS_MAX = 8;
