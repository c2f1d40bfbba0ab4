/** Every limit of changesets, with its unit. A view says so when one of them is exceeded; nothing is cut silently. */

/** The host lists a larger file but does not store its content, so its changes cannot be undone. */
export const CONTENT_MAX_BYTES = 16 * 2 ** 20;
/** Files in one snapshot of a folder (with Git, those that differ), and their total size. */
export const FOLDER_MAX_FILES = 20_000;
export const FOLDER_MAX_BYTES = 256 * 2 ** 20;
/** Contents that were read only to compare. Beyond this size the host drops them and reads them again. */
export const SNAPSHOTS_MAX_BYTES = 2 ** 30;
/** Contents that the changes of one session name, counted generously. Further changes cannot be undone. */
export const SESSION_MAX_BYTES = 2 * 2 ** 30;
/** Changes of files that are recorded for one session. Further ones are not recorded. */
export const SESSION_MAX_CHANGES = 200_000;
/** Files that one call may have changed. */
export const STEP_MAX_FILES = 5_000;
/** Files that a view shows; each is an action for every client that watches. */
export const VIEW_MAX_FILES = 2_000;
/** Views of one session that are open at once; each is counted again after every call. */
export const VIEWS_MAX = 50;
/** Longer texts are not compared line by line. */
export const DIFF_MAX_BYTES = 2 ** 20;
/** How long one look at a view may compare lines, for all files together. After that, a file counts as rewritten. */
export const DIFF_BUDGET_MS = 300;
/** Line counts that are cached, so that a view does not count the same twice. */
export const COUNTS_KEPT = 5_000;

/** How long a call waits for a snapshot of the folder before it runs. After that, its changes are not recorded. */
export const SNAPSHOT_WAIT_MAX_MS = 4_000;
/** After a snapshot that took longer, the host takes none for this time, so that not every call waits. */
export const SNAPSHOT_PAUSE_MS = 60_000;
/** How long comparing two snapshots may take. */
export const COMPARE_MAX_MS = 15_000;
/** Files that are read at once. */
export const FILES_AT_ONCE = 16;
/** Files that are put back at once; each may need a merge, and waits until it is on the disk. */
export const PUTS_AT_ONCE = 4;

/** The shortest and the longest time between two looks for changes of people, while a client watches. */
export const REFRESH_MIN_MS = 2_000;
export const REFRESH_MAX_MS = 15_000;
/** Between those, looking takes one part in this many of the time. */
export const REFRESH_TIME_SHARE = 10;
/** The host closes a view after this time without a client that watches. */
export const VIEW_IDLE_MS = 30_000;

/** A file that was changed this shortly before it was read may change again without a new timestamp. */
export const TIME_GRAIN_MS = 50;

/** File reviews that the host keeps for a session, the latest. */
export const REVIEWS_MAX = 5_000;

export const COMMIT_MESSAGE_MAX_CHARACTERS = 10_000;
/** How many files a message names. */
export const NAMED_MAX = 5;
