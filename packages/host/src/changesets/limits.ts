/** Every limit of changesets, with its unit. Beyond one of them a view says so; nothing is cut silently. */

/** A file that is larger is named, but its content is not kept, so it cannot be taken back. */
export const CONTENT_MAX_BYTES = 16 * 2 ** 20;
/** Files of a folder without Git that are looked at, and how much they may hold together. */
export const FOLDER_MAX_FILES = 20_000;
export const FOLDER_MAX_BYTES = 256 * 2 ** 20;
/** Contents that were read only to compare; beyond that they are dropped and read again. */
export const LOOKED_AT_MAX_BYTES = 2 ** 30;
/** What is kept for one session, counted generously. After that, changes are named but cannot be taken back. */
export const SESSION_MAX_BYTES = 2 * 2 ** 30;
/** Files that one call may have changed. */
export const STEP_MAX_FILES = 5_000;
/** Files that a view shows: each is an action for everyone who watches. */
export const VIEW_MAX_FILES = 2_000;
/** Texts that are larger are not compared line by line. */
export const DIFF_MAX_BYTES = 2 ** 20;
/** Line counts that are remembered, so that a view does not count the same twice. */
export const COUNTS_KEPT = 5_000;

/** How long a call waits for a look at the folder before it runs. After that, what it changes is not recorded. */
export const LOOK_MAX_MS = 4_000;
/** How long Git may take over reading, and over changing something. */
export const GIT_READ_MAX_MS = 30_000;
export const GIT_WRITE_MAX_MS = 120_000;
/** Between asking Git to end and killing it. */
export const GIT_GRACE_MS = 2_000;
export const GIT_OUTPUT_MAX_BYTES = 64 * 2 ** 20;
/** Of what Git says when it fails, people see so much. */
export const GIT_WORDS_MAX_CHARACTERS = 300;
/** Files that are read at once. */
export const FILES_AT_ONCE = 16;
/** Programs that are at work at once for one list of files. */
export const GIT_AT_ONCE = 4;

/** The least and the most time between two looks for what people changed, while somebody watches. */
export const LOOK_AGAIN_MS = 2_000;
export const LOOK_AGAIN_MAX_MS = 15_000;
/** In between, looking takes one part in so many of the time. */
export const LOOK_SHARE = 10;
/** A view that nobody watches is given up after this. */
export const VIEW_IDLE_MS = 30_000;

/** A file that changed this shortly before it was read may change again without its time telling. */
export const TIME_GRAIN_MS = 50;

export const COMMIT_MESSAGE_MAX_CHARACTERS = 10_000;
/** Names of files that a message lists. */
export const NAMED_MAX = 5;
