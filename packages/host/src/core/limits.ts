/** Every limit of the host, with its unit. A limit protects memory, time or another client. */

/** Recent envelopes that a returning client can be given one by one. */
export const REPLAY_MAX_ENVELOPES = 1_000;
export const REPLAY_MAX_BYTES = 8 * 2 ** 20;

/** Actions of one client whose answers are kept for a resend: as many as it can be replayed. */
export const SENT_ACTIONS_KEPT_MAX = 1_000;
/** Gaps between the numbers of one client; with more it counts as if it had begun a new round. */
export const SCATTERED_NUMBERS_MAX = 1_000;
/** Why an action was turned down: what is beyond is cut. It is kept for a resend. */
export const REJECTION_MAX_CHARACTERS = 1_000;

/** What may wait for a client that reads slowly, before it is told to come back for a snapshot. */
export const OUTBOX_MAX_MESSAGES = 1_024;
export const OUTBOX_MAX_BYTES = 16 * 2 ** 20;
/** Output of a terminal that waits is merged up to this. */
export const MERGED_OUTPUT_MAX_CHARACTERS = 64 * 2 ** 10;
/** From here on text deltas that wait are merged. */
export const OUTBOX_MERGE_BYTES = 64 * 2 ** 10;

/** The largest frame that is answered; a larger one gets an error. */
export const FRAME_MAX_BYTES = 2 * 10 ** 6;
/** The largest frame that is read at all; a larger one closes the connection. */
export const PAYLOAD_MAX_BYTES = 8 * 2 ** 20;

/** Messages of one client that may wait to be served. */
export const INBOUND_MAX_MESSAGES = 10_000;
export const INBOUND_MAX_CHARACTERS = 64 * 2 ** 20;

export const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Requests that a connection may send before its handshake. */
export const REQUESTS_BEFORE_HANDSHAKE_MAX = 32;
/** Of a client id and of a locale: both are stored for every client that was ever here. */
export const CLIENT_ID_MAX_CHARACTERS = 500;
export const CLIENTS_MAX = 256;
export const UNAUTHENTICATED_MAX = 32;
/** How long a lost client keeps its role and its calls, from when it was last seen. */
export const CLIENT_GRACE_MS = 30_000;
export const HEARTBEAT_MS = 15_000;

/** What the host must still do after a failure to store is tried again after this. */
export const STORE_RETRY_MS = 1_000;

/** A session that nobody uses leaves memory after this. */
export const IDLE_SESSION_MS = 60_000;
/** The processes of a session (agent, MCP servers, providers of its project) end this long after its last turn. */
export const PROCESSES_REST_MS = 60_000;
/** Finished turns of an open session that stay in memory; older ones are read when asked for. */
export const TURNS_IN_MEMORY = 50;
export const FETCH_TURNS_DEFAULT = 20;
export const FETCH_TURNS_MAX = 200;
/** A disposed session can be restored this long. */
export const DISPOSED_KEPT_MS = 30 * 24 * 60 * 60 * 1_000;
/** What is left of an import or a fork that was never finished is kept this long. */
export const UNFINISHED_KEPT_MS = 24 * 60 * 60 * 1_000;
/** A client that has been away for this long has to begin anew. */
export const CLIENT_KEPT_MS = 30 * 24 * 60 * 60 * 1_000;
/** So many clients can come back. Of more, those that were away longest have to begin anew. */
export const CLIENTS_KEPT_MAX = 10_000;
/** How exactly it is kept when a client was last here. */
export const CLIENT_NOTED_EVERY_MS = 24 * 60 * 60 * 1_000;
/** How often the host looks for what it need not keep any longer. */
export const HOUSEKEEPING_EVERY_MS = 6 * 60 * 60 * 1_000;
/** How long an agent may take to end, before the host goes on without it. */
export const AGENT_CLOSE_MAX_MS = 10_000;

/** Requests to clients count from here, so that they never equal a number the client itself is waiting for. */
export const FIRST_HOST_REQUEST_ID = 1_000_000_001;
export const HOST_REQUEST_TIMEOUT_MS = 10_000;

/** How long the active client may take to rewrite prompt sections. */
export const TRANSFORM_TIMEOUT_MS = 5_000;
export const TRANSFORM_MAX_SECTIONS = 32;
export const TRANSFORM_MAX_BYTES = 256 * 2 ** 10;
/** What a section of the prompt may grow to by what extensions add. */
export const PROMPT_SECTION_MAX_CHARACTERS = 256 * 2 ** 10;
/** How long one callback about a section may take, and all of one prompt together. */
export const CALLBACK_TIMEOUT_MS = 2_000;
export const CALLBACKS_TIMEOUT_MS = 4_000;
/** Files that rules are told of: the newest ones that a turn has to do with. */
export const RENDER_FILES_MAX = 200;

/** How long all gates of a call together may take; a call whose gate did not answer does not run. */
export const GATES_TIMEOUT_MS = 5_000;
/** How much of a gate's reason or note is passed on. */
export const GATE_TEXT_MAX_CHARACTERS = 4_000;
/** How long an extension may take over a turn that begins, or a call that has ended; hooks run whole programs there. */
export const EXTENSION_TIMEOUT_MS = 10 * 60 * 1_000;
/** What extensions may add to the message of one turn, all together. */
export const TURN_CONTEXT_MAX_CHARACTERS = 256 * 2 ** 10;

/** What a model reads of one tool output, unless the host is configured otherwise: some 8,000 tokens. */
export const MODEL_OUTPUT_MAX_CHARACTERS = 32_000;
/** The least that can be configured: with less, a model reads little but notes about what it does not read. */
export const MODEL_OUTPUT_MIN_CHARACTERS = 2_000;

/** How often extensions may send an agent on that has come to the end of a turn. */
export const TURN_SENT_ON_MAX = 5;

/** One part of an answer: what is beyond is cut. Parts are kept in memory, stored, and sent to every client. */
export const PART_TEXT_MAX_CHARACTERS = 2 * 2 ** 20;
/** Everything that is said in one turn, and the parts that it has, calls included. One with more is ended. */
export const TURN_TEXT_MAX_CHARACTERS = 64 * 2 ** 20;
export const TURN_PARTS_MAX = 20_000;
/** What is written in one turn, piece by piece: each is stored and sent by itself, however small it is. */
export const TURN_ACTIONS_MAX = 250_000;
/** A note in a turn, the name of a session, what an agent says that it is doing. */
export const NOTE_MAX_CHARACTERS = 16 * 2 ** 10;
export const TITLE_MAX_CHARACTERS = 200;
export const ACTIVITY_MAX_CHARACTERS = 500;

/** What a client may call a session: it is in memory for every session, and in the list that everybody gets. */
export const GIVEN_TITLE_MAX_CHARACTERS = 4_000;
/** Messages that wait in one session, and all of them together: they are in every snapshot of it. */
export const PENDING_MESSAGES_MAX = 1_000;
export const PENDING_MESSAGES_MAX_CHARACTERS = 16 * 2 ** 20;
/** What somebody wrote into one field of a question so far, as JSON: it is in every snapshot of the session. */
export const ANSWER_MAX_CHARACTERS = 256 * 2 ** 10;
/** Changes of the model or the agent that wait for the end of a turn: all are stored again with every further one. */
export const HELD_ACTIONS_MAX = 100;
/** The URI of a session, and the model or the agent that is chosen for it, as JSON: they are in the list as well. */
export const SESSION_URI_MAX_CHARACTERS = 500;
export const CHOICE_MAX_CHARACTERS = 16 * 2 ** 10;
/** What is said in the list of a session that comes from elsewhere, as JSON. */
export const SUMMARY_MAX_CHARACTERS = 64 * 2 ** 10;

/** Text and data of one result that stay in the session; blobs take the rest. */
export const INLINE_TEXT_MAX_CHARACTERS = 64 * 2 ** 10;
export const INLINE_DATA_MAX_BYTES = 16 * 2 ** 10;
/** How much of a long text stands where it was. */
export const PREVIEW_MAX_CHARACTERS = 4 * 2 ** 10;
/** The largest blob that a session names: no message that could bring one is larger. Readers take it as a whole. */
export const BLOB_MAX_BYTES = 16 * 2 ** 20;
