/** Every limit of changesets, with its unit. Beyond one of them a view says so; nothing is cut silently. */

/** The host names a larger file, but does not store its content, so its changes cannot be undone. */
export const CONTENT_MAX_BYTES = 16 * 2 ** 20;
/** Files in one snapshot of a folder (with Git, those that differ), and how much they may hold together. */
export const FOLDER_MAX_FILES = 20_000;
export const FOLDER_MAX_BYTES = 256 * 2 ** 20;
/** Contents that were read only to compare; beyond that the host drops them and reads them again. */
export const SNAPSHOTS_MAX_BYTES = 2 ** 30;
/** Contents that the changes of one session name, counted generously. After that, changes cannot be undone. */
export const SESSION_MAX_BYTES = 2 * 2 ** 30;
/** Changes of files that are remembered for one session. After that, no more are. */
export const SESSION_MAX_CHANGES = 200_000;
/** Files that one call may have changed. */
export const STEP_MAX_FILES = 5_000;
/** Files that a view shows: each is an action for everyone who watches. */
export const VIEW_MAX_FILES = 2_000;
/** Views of one session that are open at once: each is counted anew after every call. */
export const VIEWS_MAX = 50;
/** Texts that are larger are not compared line by line. */
export const DIFF_MAX_BYTES = 2 ** 20;
/** How long one look at a view may compare lines, all files together. After that, a file counts as rewritten. */
export const DIFF_BUDGET_MS = 300;
/** Line counts that are remembered, so that a view does not count the same twice. */
export const COUNTS_KEPT = 5_000;

/** How long a call waits for a look at the folder before it runs. After that, what it changes is not recorded. */
export const LOOK_MAX_MS = 4_000;
/** After a snapshot that took longer, the host takes none for this time, so that not every call waits for one. */
export const LOOK_REST_MS = 60_000;
/** How long it may take to find out what lies between two looks. */
export const COMPARE_MAX_MS = 15_000;
/** Files that are read at once. */
export const FILES_AT_ONCE = 16;
/** Files that are put back at once: each may need a merge, and waits until it is on the disk. */
export const PUTS_AT_ONCE = 4;

/** The least and the most time between two looks for what people changed, while a client watches. */
export const LOOK_AGAIN_MS = 2_000;
export const LOOK_AGAIN_MAX_MS = 15_000;
/** In between, looking takes one part in so many of the time. */
export const LOOK_SHARE = 10;
/** The host gives up a view that no client watches after this time. */
export const VIEW_IDLE_MS = 30_000;

/** A file that changed this shortly before it was read may change again without its time telling. */
export const TIME_GRAIN_MS = 50;

/** Reviews of files that the host keeps of a session, the latest. */
export const REVIEWS_MAX = 5_000;

export const COMMIT_MESSAGE_MAX_CHARACTERS = 10_000;
/** Names of files that a message lists. */
export const NAMED_MAX = 5;
