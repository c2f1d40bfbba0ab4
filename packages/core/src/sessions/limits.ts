/** Limits of sessions: what stays in memory, how long things are kept, how large they may become. */

/** How long a lost client keeps its role and its calls, counted from when it was last seen. */
export const CLIENT_GRACE_MS = 30_000;

/** A session without subscribers and without a running turn leaves memory after this. */
export const IDLE_SESSION_MS = 60_000;
/** The processes of a session (agent, MCP servers, providers of its project) end this long after its last turn. */
export const PROCESSES_IDLE_MS = 60_000;
/** Finished turns of an open session that stay in memory; older ones are read when asked for. */
export const TURNS_IN_MEMORY = 50;
export const FETCH_TURNS_DEFAULT = 20;
export const FETCH_TURNS_MAX = 200;
/** How long a disposed session can be restored. */
export const DISPOSED_KEPT_MS = 30 * 24 * 60 * 60 * 1_000;
/** How long the remains of an unfinished import or fork are kept. */
export const UNFINISHED_KEPT_MS = 24 * 60 * 60 * 1_000;
/** How often the host removes what it need not keep any longer. */
export const HOUSEKEEPING_EVERY_MS = 6 * 60 * 60 * 1_000;
/** How long an agent may take to end; then the host goes on without it. */
export const AGENT_CLOSE_MAX_MS = 10_000;

/** How often extensions may make an agent continue after it has come to the end of its turn. */
export const TURN_CONTINUED_MAX = 5;

/** Longest part of an answer; the rest is cut. Parts are kept in memory, stored, and sent to every client. */
export const PART_TEXT_MAX_CHARACTERS = 2 * 2 ** 20;
/** Most text, and most parts with calls included, that one turn may have. A turn with more is ended. */
export const TURN_TEXT_MAX_CHARACTERS = 64 * 2 ** 20;
export const TURN_PARTS_MAX = 20_000;
/** Most pieces that one turn may write: each is stored and sent by itself, however small it is. */
export const TURN_ACTIONS_MAX = 250_000;
/**
 * How long text of a turn waits for more, by the number of clients that watch the chat; the first matching entry
 * counts. A screen draws every 16 ms, so nobody sees more of it; for many clients, each piece is worth a second frame.
 */
export const TEXT_WINDOWS: readonly { readonly watchers: number; readonly milliseconds: number }[] = [
  { watchers: 50, milliseconds: 33 },
  { watchers: 0, milliseconds: 16 },
];
/** Waiting text is written when it has this length, whatever the time. */
export const TEXT_WAITING_MAX_CHARACTERS = 16 * 2 ** 10;
/** Longest note in a turn, title of a session, and activity of an agent. */
export const NOTE_MAX_CHARACTERS = 16 * 2 ** 10;
export const TITLE_MAX_CHARACTERS = 200;
export const ACTIVITY_MAX_CHARACTERS = 500;
/**
 * Longest list of tasks; further tasks are not shown. If there are more lists than `PLAN_LISTS_MAX`, those of other
 * chats are dropped.
 */
export const PLAN_ITEMS_MAX = 100;
export const PLAN_ITEM_MAX_CHARACTERS = 300;
export const PLAN_LISTS_MAX = 8;

/**
 * Longest title that a client may set: titles are in memory for every session, and in the list that every client gets.
 */
export const GIVEN_TITLE_MAX_CHARACTERS = 4_000;
/** Most waiting messages of one session, and their total size: they are in every snapshot of it. */
export const PENDING_MESSAGES_MAX = 1_000;
export const PENDING_MESSAGES_MAX_CHARACTERS = 16 * 2 ** 20;
/** Longest draft as JSON: it is stored as a whole with every key, and sent to every client. */
export const DRAFT_MAX_CHARACTERS = 256 * 2 ** 10;
/** Longest unfinished answer to one field of a question, as JSON: it is in every snapshot of the session. */
export const ANSWER_MAX_CHARACTERS = 256 * 2 ** 10;
/** Largest set of answers that finishes a question, as JSON. */
export const ANSWERS_MAX_CHARACTERS = 2 ** 20;
/**
 * Largest waiting call that a session lists in full, as JSON. Of a larger one it leaves out the output, which the chat
 * has.
 */
export const LISTED_CALL_MAX_CHARACTERS = 64 * 2 ** 10;
/**
 * Most changes of the model or the agent that may wait for the end of a turn: each further one stores all of them
 * again.
 */
export const DEFERRED_ACTIONS_MAX = 100;
/** Longest URI of a session, and longest choice of model or agent as JSON: they are in the list, too. */
export const SESSION_URI_MAX_CHARACTERS = 500;
export const CHOICE_MAX_CHARACTERS = 16 * 2 ** 10;
/** Largest summary of an imported session, as JSON. */
export const SUMMARY_MAX_CHARACTERS = 64 * 2 ** 10;
/**
 * Most annotations of a session, and most notes of an annotation. Every snapshot of their channel contains all of them.
 */
export const ANNOTATIONS_MAX = 1_000;
export const ANNOTATION_ENTRIES_MAX = 100;
export const ANNOTATION_ID_MAX_CHARACTERS = 256;
/** Largest note, annotation without its notes, and set of all annotations of a session, as JSON. */
export const ANNOTATION_ENTRY_MAX_CHARACTERS = 32 * 2 ** 10;
export const ANNOTATION_MAX_CHARACTERS = 16 * 2 ** 10;
export const ANNOTATIONS_MAX_CHARACTERS = 512 * 2 ** 10;
/** Most text that a model reads of the annotations attached to one message. */
export const ANNOTATIONS_TEXT_MAX_CHARACTERS = 64 * 2 ** 10;
/** Most folders of one session. */
export const SESSION_FOLDERS_MAX = 100;
export const FOLDER_URI_MAX_CHARACTERS = 4_096;
/** How much longer a turn may have lasted by the clock of the client that stopped it than by the host's clock. */
export const CLIENT_CLOCK_SLACK_MS = 60_000;

/**
 * Most chats of one session, including its default chat and those of workers: all are in its state, and in memory with
 * it.
 */
export const SESSION_CHATS_MAX = 100;
/** Longest URI that a client may choose for a chat: it is in the list of sessions, too. */
export const CHAT_URI_MAX_CHARACTERS = 1_000;
/** Most chats that may be attached to one message: each is opened, and read for the model. */
export const MESSAGE_CHATS_MAX = 20;
/** Most text that a model reads of the chats attached to one message: the newest turns of each. */
export const CHAT_TRANSCRIPT_MAX_CHARACTERS = 64 * 2 ** 10;
/** Most turns of a chat in one transcript. */
export const CHAT_TRANSCRIPT_MAX_TURNS = 200;

/** How deep workers may be nested: those of the last level start none. */
export const WORKER_DEPTH_MAX = 2;
/** Most workers of one session that run at the same time. */
export const WORKERS_AT_ONCE_MAX = 8;
/** Most workers that one turn may start. */
export const TURN_WORKERS_MAX = 50;
