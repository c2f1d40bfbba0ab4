/** Limits of sessions: what stays in memory, how long things are kept, how large they may become. */

/** How long a lost client keeps its role and its calls, from when it was last seen. */
export const CLIENT_GRACE_MS = 30_000;

/** A session without subscribers and without a running turn leaves memory after this. */
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
/** How often the host looks for what it need not keep any longer. */
export const HOUSEKEEPING_EVERY_MS = 6 * 60 * 60 * 1_000;
/** How long an agent may take to end, before the host goes on without it. */
export const AGENT_CLOSE_MAX_MS = 10_000;

/** How often extensions may send an agent on that has come to the end of a turn. */
export const TURN_CONTINUED_MAX = 5;

/** One part of an answer: what is beyond is cut. Parts are kept in memory, stored, and sent to every client. */
export const PART_TEXT_MAX_CHARACTERS = 2 * 2 ** 20;
/** Everything that is said in one turn, and the parts that it has, calls included. One with more is ended. */
export const TURN_TEXT_MAX_CHARACTERS = 64 * 2 ** 20;
export const TURN_PARTS_MAX = 20_000;
/** What is written in one turn, piece by piece: each is stored and sent by itself, however small it is. */
export const TURN_ACTIONS_MAX = 250_000;
/**
 * How long text of a turn waits for more of it, by how many clients watch the chat: the first entry that fits counts. One or
 * two get every word as it comes; for many, each piece is worth a wait that nobody notices.
 */
export const TEXT_WINDOWS: readonly { readonly watchers: number; readonly milliseconds: number }[] = [
  { watchers: 50, milliseconds: 33 },
  { watchers: 8, milliseconds: 16 },
];
/** Text that waits is written when it has become this long, whatever the time. */
export const TEXT_WAITING_MAX_CHARACTERS = 16 * 2 ** 10;
/** A note in a turn, the name of a session, what an agent says that it is doing. */
export const NOTE_MAX_CHARACTERS = 16 * 2 ** 10;
export const TITLE_MAX_CHARACTERS = 200;
export const ACTIVITY_MAX_CHARACTERS = 500;
/** An agent's list of tasks; further tasks are not shown. Lists of other chats go when there are more of them. */
export const PLAN_ITEMS_MAX = 100;
export const PLAN_ITEM_MAX_CHARACTERS = 300;
export const PLAN_LISTS_MAX = 8;

/** What a client may call a session: it is in memory for every session, and in the list that everybody gets. */
export const GIVEN_TITLE_MAX_CHARACTERS = 4_000;
/** Messages that wait in one session, and all of them together: they are in every snapshot of it. */
export const PENDING_MESSAGES_MAX = 1_000;
export const PENDING_MESSAGES_MAX_CHARACTERS = 16 * 2 ** 20;
/** A message that somebody is writing, as JSON: it is stored as a whole with every key, and sent to everybody. */
export const DRAFT_MAX_CHARACTERS = 256 * 2 ** 10;
/** What a client wrote into one field of a question so far, as JSON: it is in every snapshot of the session. */
export const ANSWER_MAX_CHARACTERS = 256 * 2 ** 10;
/** All answers that come with the end of a question, as JSON. */
export const ANSWERS_MAX_CHARACTERS = 2 ** 20;
/** A waiting call, as JSON: of a larger one, the session lists everything but its output. The chat has all of it. */
export const LISTED_CALL_MAX_CHARACTERS = 64 * 2 ** 10;
/** Changes of the model or the agent that wait for the end of a turn: all are stored again with every further one. */
export const DEFERRED_ACTIONS_MAX = 100;
/** The URI of a session, and the model or the agent that is chosen for it, as JSON: they are in the list as well. */
export const SESSION_URI_MAX_CHARACTERS = 500;
export const CHOICE_MAX_CHARACTERS = 16 * 2 ** 10;
/** What is said in the list of a session that comes from elsewhere, as JSON. */
export const SUMMARY_MAX_CHARACTERS = 64 * 2 ** 10;
/** Annotations of one session, and the notes of one of them. All are in every snapshot of their channel. */
export const ANNOTATIONS_MAX = 1_000;
export const ANNOTATION_ENTRIES_MAX = 100;
export const ANNOTATION_ID_MAX_CHARACTERS = 256;
/** One note, an annotation without its notes, and all annotations of a session, as JSON. */
export const ANNOTATION_ENTRY_MAX_CHARACTERS = 32 * 2 ** 10;
export const ANNOTATION_MAX_CHARACTERS = 16 * 2 ** 10;
export const ANNOTATIONS_MAX_CHARACTERS = 512 * 2 ** 10;
/** Annotations that are attached to one message, as a model reads them. */
export const ANNOTATIONS_TEXT_MAX_CHARACTERS = 64 * 2 ** 10;
/** Folders that one session works in. */
export const SESSION_FOLDERS_MAX = 100;
export const FOLDER_URI_MAX_CHARACTERS = 4_096;
/** How much longer than by the host's clock a turn may have been by the clock of the client that stopped it. */
export const CLIENT_CLOCK_SLACK_MS = 60_000;

/** Chats of one session, its default one and those of workers included: all are in its state, and in memory with it. */
export const SESSION_CHATS_MAX = 100;
/** The URI that a client chooses for a chat: it is in the list of sessions, too. */
export const CHAT_URI_MAX_CHARACTERS = 1_000;
/** Chats that are attached to one message: each is opened, and read for the model. */
export const MESSAGE_CHATS_MAX = 20;
/** The transcripts of chats that are attached to one message, as the model reads them: the newest turns of each. */
export const CHAT_TRANSCRIPT_MAX_CHARACTERS = 64 * 2 ** 10;
/** Turns of a chat that a transcript is made of, at most. */
export const CHAT_TRANSCRIPT_MAX_TURNS = 200;

/** How many workers may stand below each other: those of the last level start none. */
export const WORKER_DEPTH_MAX = 2;
/** Workers of one session that run at the same time. */
export const WORKERS_AT_ONCE_MAX = 8;
/** Workers that one turn starts, one after the other. */
export const TURN_WORKERS_MAX = 50;
