/** Limits of storing. */

/** Pause before the host tries again to store something after a failure. */
export const STORE_RETRY_MS = 1_000;
/** How often a commit is tried again, once every `STORE_RETRY_MS`, while the log cannot be reached. */
export const UNAVAILABLE_RETRIES_MAX = 60;
/** Clients and agents wait when this much is waiting to be stored, in characters of actions and records … */
export const UNSTORED_MAX_BYTES = 8 * 2 ** 20;
/** … or when one commit takes this long. */
export const UNSTORED_MAX_MS = 5_000;
/** The warning about slow storing appears at most once in this time. */
export const BEHIND_WARNED_EVERY_MS = 60_000;
