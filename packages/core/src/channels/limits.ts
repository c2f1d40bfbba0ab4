/** Limits of storing. */

/** What the host must still do after a failure to store is tried again after this. */
export const STORE_RETRY_MS = 1_000;
/** How often a commit is tried again, one every `STORE_RETRY_MS`, while the log cannot be reached. */
export const UNAVAILABLE_RETRIES_MAX = 60;
