/** Every limit of the board, with its unit. */

/** How many sessions a board shows, the newest. */
export const BOARD_CARDS_MAX = 50;
/** How many folders are read at the same time; each costs a few runs of Git. */
export const BOARD_AT_ONCE = 4;
/** How many branches a board lists, the latest. */
export const BOARD_BRANCHES_MAX = 200;
/** How many untracked files have their lines counted. */
export const FRESH_COUNTED_MAX = 200;
/** How much of a difference between two branches is sent. */
export const COMPARE_MAX_CHARACTERS = 256 * 2 ** 10;
export const COMPARE_FILES_MAX = 2_000;
/** How many files a message names. */
export const FILES_NAMED_MAX = 10;
/** How long a push, or a program of a forge, may take. */
export const NETWORK_MAX_MS = 120_000;
/** How long the program of a forge may take to say whether a user is logged in. */
export const LOGIN_MAX_MS = 10_000;
/** How much of the output of such a program is kept. */
export const OUTPUT_MAX_CHARACTERS = 4_000;
/** How long a model may take to propose the message of a commit. */
export const PROPOSAL_MAX_MS = 15_000;
export const PULL_TITLE_MAX_CHARACTERS = 200;
export const PULL_BODY_MAX_CHARACTERS = 20_000;

/** How many files of a proposed commit are named. */
export const PROPOSED_FILES_MAX = 200;
