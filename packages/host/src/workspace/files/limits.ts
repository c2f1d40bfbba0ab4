/** Every limit of this room, with its unit. */

/** What one answer carries of a file. As base64 it still fits into a frame that our clients take. */
export const READ_MAX_BYTES = 4 * 2 ** 20;
/** Entries of one folder in one answer. */
export const LIST_MAX_ENTRIES = 50_000;
/** Links in a folder whose kinds are found out at the same time, and how long all of them may take. */
export const LIST_LINKS_AT_ONCE = 16;
export const LIST_LINKS_MAX_MS = 2_000;
/** How much of a file is written anew when something is put into the middle of it. */
export const REWRITE_MAX_BYTES = 256 * 2 ** 20;
/** Files up to here are known by their content, larger ones by their date. */
export const ETAG_HASH_MAX_BYTES = 256 * 2 ** 10;
export const COPY_CHUNK_BYTES = 2 ** 20;

/** Files and folders that one copy or one deletion may take with it, and how deep they may lie. */
export const TREE_MAX_ENTRIES = 100_000;
export const TREE_MAX_DEPTH = 128;

export const URI_MAX_CHARACTERS = 16 * 2 ** 10;
/** Names in one path, also while links are followed: what a path costs grows faster than its length. */
export const PATH_MAX_NAMES = 256;
/** Links that lead from one to the next; the kernel's own limit. */
export const LINKS_MAX = 40;
/** How often the way to a file may change under us before we give up. */
export const SWAPS_MAX = 8;
/** How long it is remembered where granted folders really are. */
export const ROOTS_FRESH_MS = 1_000;

/** What one client may have been granted by people, and may be asking for at once. */
export const GRANTS_MAX = 64;
export const REQUESTS_MAX = 4;
/** A question that nobody answers is taken back. */
export const REQUEST_TIMEOUT_MS = 5 * 60 * 1_000;
/** How much of a path, and of a client's name, stands in a question. */
export const ASKED_PATH_MAX_CHARACTERS = 500;
export const ASKER_MAX_CHARACTERS = 100;

export const WATCHES_MAX = 32;
/** Folders in all watches of the host: the system has only so many watchers for all programs of a user. */
export const WATCHED_FOLDERS_MAX = 32_768;
/** Folders in one watch, and names in them that it has to remember. */
export const WATCH_FOLDERS_MAX = 4_096;
export const WATCH_NAMES_MAX = 200_000;
export const WATCH_PATTERNS_MAX = 100;
export const WATCH_PATTERN_MAX_CHARACTERS = 1_000;
/** What changes within this time is told at once. */
export const WATCH_BATCH_MS = 50;
/** More changes than these are told as one: look at everything again. */
export const WATCH_BATCH_MAX_CHANGES = 500;
/** A watch that nobody subscribes to ends after this. */
export const WATCH_UNUSED_MS = 30_000;
