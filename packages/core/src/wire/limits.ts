/** Limits of connections: what one client may send, keep waiting, and come back to. */

/** How often a resume starts over because something was stored while it read; after that the client gets a snapshot. */
export const REPLAY_TRIES_MAX = 3;

/** Actions of one client whose answers are kept for a resend: as many as it can be replayed. */
export const SENT_ACTIONS_KEPT_MAX = 1_000;
/** Gaps between the numbers of one client; with more it counts as if it had begun a new round. */
export const SCATTERED_NUMBERS_MAX = 1_000;
/** Why an action was turned down: what is beyond is cut. It is kept for a resend. */
export const REJECTION_MAX_CHARACTERS = 1_000;

/** How much may wait for a slow client before its connection is closed with 4001; it comes back and resumes. */
export const OUTBOX_MAX_MESSAGES = 1_024;
export const OUTBOX_MAX_BYTES = 16 * 2 ** 20;
/** Output of a terminal that waits is merged up to this. */
export const MERGED_OUTPUT_MAX_CHARACTERS = 64 * 2 ** 10;
/** From here on text deltas that wait are merged. */
export const OUTBOX_MERGE_BYTES = 64 * 2 ** 10;

/** The largest frame that is answered; a larger one gets an error. */
export const CLIENT_FRAME_MAX_BYTES = 2 * 10 ** 6;
/** The largest frame that is read at all; a larger one closes the connection. */
export const PAYLOAD_MAX_BYTES = 8 * 2 ** 20;

/** Messages of one client that may wait to be served. */
export const INBOUND_MAX_MESSAGES = 10_000;
export const INBOUND_MAX_CHARACTERS = 64 * 2 ** 20;

/** While storing is behind, so much of one client is read and waits, so that its pings are read, too; the rest stays in its socket. */
export const HELD_MAX_CHARACTERS = 64 * 2 ** 10;

export const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Requests that a connection may send before its handshake. */
export const REQUESTS_BEFORE_HANDSHAKE_MAX = 32;
/** Of a client id and of a locale: both are stored for every client that was ever here. */
export const CLIENT_ID_MAX_CHARACTERS = 500;

/** A client that has been away for this long has to begin anew. */
export const CLIENT_KEPT_MS = 30 * 24 * 60 * 60 * 1_000;
/** So many clients can come back. Of more, those that were away longest have to begin anew. */
export const CLIENTS_KEPT_MAX = 10_000;
/** How exactly it is kept when a client was last here. */
export const CLIENT_NOTED_EVERY_MS = 24 * 60 * 60 * 1_000;

/** Requests to clients count from here, so that they never equal a number the client itself is waiting for. */
export const FIRST_HOST_REQUEST_ID = 1_000_000_001;
export const HOST_REQUEST_TIMEOUT_MS = 10_000;
/** How long text is held back at most for a client that wishes so: longer looks like a host that hangs. */
export const TEXT_HELD_MAX_MS = 1_000;

/** For how many chats the host remembers what a client has loaded. For others, a client that comes back takes a snapshot. */
export const WINDOWED_CHATS_MAX = 256;
/** How many steps of loading one chat are told apart; what is older is taken for the smaller part. */
export const WINDOW_STEPS_MAX = 8;
