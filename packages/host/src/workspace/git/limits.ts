/** The limits of every run of Git, with their units. */

/** How long Git may take over reading, over changing something, and over writing out a whole repository. */
export const GIT_READ_MAX_MS = 30_000;
export const GIT_WRITE_MAX_MS = 120_000;
export const GIT_CHECKOUT_MAX_MS = 10 * 60_000;
/** How long it may take while somebody waits at a form. */
export const GIT_GLANCE_MAX_MS = 5_000;
/** Between asking Git to end and killing it. */
export const GIT_GRACE_MS = 2_000;
/** A list with more is not taken in: reading it would hold up everybody. */
export const GIT_OUTPUT_MAX_BYTES = 16 * 2 ** 20;
/** Of what Git says when it fails, people see so much. */
export const GIT_WORDS_MAX_CHARACTERS = 300;
/** Contents that one run of Git hands over, as Git stores them. */
export const GIT_CONTENTS_MAX_BYTES = 32 * 2 ** 20;
