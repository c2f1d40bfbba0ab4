/** Limits of devices and shares, and of letting a device in. */

/** Devices of one host; a further one is refused until another is removed. */
export const DEVICES_MAX = 100;
export const SHARES_MAX = 100;
/** Of the name of a device or a share. */
export const NAME_MAX_CHARACTERS = 80;
/** What is kept of the name that a browser or program gives itself. */
export const USER_AGENT_MAX_CHARACTERS = 200;
/** Sessions, and folders, that one device may be bound to. */
export const BOUNDS_MAX = 100;
/** How exactly it is kept when and from where a credential was last used. */
export const USE_NOTED_EVERY_MS = 10 * 60_000;
/** A device that did not come within this time after it was let in never got its token: it is removed. */
export const FIRST_USE_MS = 10 * 60_000;

/** Of a code that lets a device in. */
export const CODE_BYTES = 16;
export const CODE_KEPT_MS = 5 * 60_000;
export const CODES_MAX = 10;
export const SHORT_CODE_DIGITS = 8;
/** Wrong short codes; then no short code counts any more that was made before. */
export const SHORT_CODE_TRIES_MAX = 3;
/** Wrong codes of all devices together, within the window; then no code is looked at for the time behind it. */
export const CODE_TRIES_MAX = 5;
export const CODE_TRIES_WINDOW_MS = 60_000;
export const CODE_BLOCKED_MS = 5 * 60_000;
