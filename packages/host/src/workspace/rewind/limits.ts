/** Every limit of rewinds, with its unit. */

/** How many turns one rewind may undo. */
export const REWIND_TURNS_MAX = 5_000;
/** The turns that an undo brings back, as JSON in bytes; every client that watches gets them at once. */
export const RESTORE_MAX_BYTES = 32 * 2 ** 20;
/** How many effects a preview lists as not undone, and how long each may be. */
export const NOT_UNDONE_MAX = 50;
export const NOT_UNDONE_MAX_CHARACTERS = 200;
/** How much is shown of the message that people go back to. */
export const MESSAGE_SHOWN_MAX_CHARACTERS = 200;
/** How many turns are read at once. */
export const PAGE_TURNS = 100;
