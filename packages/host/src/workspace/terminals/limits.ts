/** The limits of terminals, with their units. */

/** Terminals of one host, those that have ended and are still shown among them. */
export const TERMINALS_MAX = 64;
/** Terminals of finished calls that a session keeps, so that one can still look at them. */
export const FINISHED_KEPT_PER_SESSION = 3;

export const COLS_DEFAULT = 80;
export const ROWS_DEFAULT = 24;
export const COLS_MAX = 1_000;
export const ROWS_MAX = 500;
export const TITLE_MAX_CHARACTERS = 200;
export const URI_MAX_CHARACTERS = 500;

/** What one `terminal/input` may carry. More is pasted in several. */
export const INPUT_MAX_CHARACTERS = 64 * 2 ** 10;
/** What may wait for a program that does not read its input. */
export const INPUT_WAITING_MAX_BYTES = 256 * 2 ** 10;
/** How often a program that did not read its input is offered the rest of it. */
export const INPUT_RETRY_MS = 10;

/** What a terminal shows of its past: over the first, the oldest is dropped down to the second. */
export const SCROLLBACK_MAX_CHARACTERS = 2 ** 20;
export const SCROLLBACK_KEPT_CHARACTERS = 768 * 2 ** 10;
export const SCROLLBACK_MAX_PARTS = 400;
export const SCROLLBACK_KEPT_PARTS = 300;
/** How often, in characters, output that grows bit by bit is made one piece of memory. */
export const SCROLLBACK_PIECE_CHARACTERS = 128 * 2 ** 10;

/** Output of a busy program is told so often; before that, when there is so much of it. A quiet one is told at once. */
export const GATHER_MS = 8;
export const GATHER_MAX_CHARACTERS = 64 * 2 ** 10;

/** Output that was read and not stored: over the first the program has to wait, under the second it goes on. */
export const UNSTORED_HIGH_CHARACTERS = 256 * 2 ** 10;
export const UNSTORED_LOW_CHARACTERS = 64 * 2 ** 10;
/** The same for what waits to be sent to the watcher who keeps up best. */
export const UNSENT_HIGH_BYTES = 2 * 2 ** 20;
export const UNSENT_LOW_BYTES = 512 * 2 ** 10;
/** How long a program waits for watchers in one go. None of them may hold it up for good. */
export const UNSENT_PATIENCE_MS = 1_000;
export const UNSENT_POLL_MS = 5;

/** The longest escape sequence that is looked into: twice what a shell says of the longest line that it tells. */
export const SEQUENCE_MAX_CHARACTERS = 32 * 2 ** 10;
/** What is remembered of a prompt and what was typed behind it. */
export const TYPED_MAX_CHARACTERS = 8 * 2 ** 10;
/** How often a program may change the title or the folder that is shown. */
export const LABELS_EVERY_MS = 200;

/** Between hanging up and killing. */
export const HANGUP_GRACE_MS = 1_000;
/** How long a process that was killed may take to be gone; one that hangs in a driver is not waited for longer. */
export const EXIT_MAX_MS = 2_000;
