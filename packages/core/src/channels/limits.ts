/** Limits of storing. */

/** What the host must still do after a failure to store is tried again after this. */
export const STORE_RETRY_MS = 1_000;
/** How often a commit is tried again, one every `STORE_RETRY_MS`, while the log cannot be reached. */
export const UNAVAILABLE_RETRIES_MAX = 60;
/** Clients and agents wait when so much is to be stored, in characters of actions and records, … */
export const UNSTORED_MAX_BYTES = 8 * 2 ** 20;
/** … or when a commit is on its way for this long. */
export const UNSTORED_MAX_MS = 5_000;
/** Storing that is slow again and again is told once in this time. */
export const BEHIND_WARNED_EVERY_MS = 60_000;
