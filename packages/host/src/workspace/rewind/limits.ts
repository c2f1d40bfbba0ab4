/** Every limit of rewinds, with its unit. */

/** Turns that one rewind takes back. */
export const REWIND_TURNS_MAX = 5_000;
/** The turns that an undo brings back, as JSON in bytes: every client that watches gets them at once. */
export const RESTORE_MAX_BYTES = 32 * 2 ** 20;
/** What a preview names as not undone, and how long each is. */
export const NOT_UNDONE_MAX = 50;
export const NOT_UNDONE_MAX_CHARACTERS = 200;
/** What is shown of the message that people go back to. */
export const MESSAGE_SHOWN_MAX_CHARACTERS = 200;
/** Turns that are read at once. */
export const PAGE_TURNS = 100;
