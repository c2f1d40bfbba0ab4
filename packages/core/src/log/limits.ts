/** Limits of the log. */

/** At most this many of the newest entries are replayed to a returning client. */
export const REPLAY_MAX_ENVELOPES = 1_000;
export const REPLAY_MAX_BYTES = 8 * 2 ** 20;
