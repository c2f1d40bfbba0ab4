/** Limits of storing. */

/** What the host must still do after a failure to store is tried again after this. */
export const STORE_RETRY_MS = 1_000;
