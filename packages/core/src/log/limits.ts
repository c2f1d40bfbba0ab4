/** Limits of the log. */

/** The newest entries that a returning client can be given one by one. */
export const REPLAY_MAX_ENVELOPES = 1_000;
export const REPLAY_MAX_BYTES = 8 * 2 ** 20;
