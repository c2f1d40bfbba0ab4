/** Limits of devices and shares, and of admitting a device. */

/** Devices of one host; another one is refused until one is removed. */
export const DEVICES_MAX = 100;
export const SHARES_MAX = 100;
/** The name of a device or a share. */
export const NAME_MAX_CHARACTERS = 80;
/** How much is kept of the name that a browser or program gives itself. */
export const USER_AGENT_MAX_CHARACTERS = 200;
/** How many sessions, and how many folders, one device may be bound to. */
export const BOUNDS_MAX = 100;
/** How often the time and place of a credential's use are stored. */
export const USE_NOTED_EVERY_MS = 10 * 60_000;
/** A device that did not connect within this time after it was admitted never got its token, and is removed. */
export const FIRST_USE_MS = 10 * 60_000;

/** The length of a code that admits a device. */
export const CODE_BYTES = 16;
export const CODE_KEPT_MS = 5 * 60_000;
export const CODES_MAX = 10;
export const SHORT_CODE_DIGITS = 8;
/** After this many wrong short codes, no short code made before works any more. */
export const SHORT_CODE_TRIES_MAX = 3;
/**
 * After this many wrong codes of all devices together within the window, no code is checked for the time given last.
 */
export const CODE_TRIES_MAX = 5;
export const CODE_TRIES_WINDOW_MS = 60_000;
export const CODE_BLOCKED_MS = 5 * 60_000;
