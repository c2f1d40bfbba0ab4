/** Limits of one tool call and of the extensions around it. */

/** How long all gates of a call together may take; a call whose gate did not answer does not run. */
export const GATES_TIMEOUT_MS = 5_000;
/** How much of a gate's reason or note is passed on. */
export const GATE_TEXT_MAX_CHARACTERS = 4_000;
/** How long an extension may take over a turn that begins, or a call that has ended; hooks run whole programs there. */
export const EXTENSION_TIMEOUT_MS = 10 * 60 * 1_000;
/** What extensions may add to the message of one turn, all together. */
export const TURN_CONTEXT_MAX_CHARACTERS = 256 * 2 ** 10;

/** How long the assessment of a call may take, and how much of its reason is shown. */
export const JUDGEMENT_TIMEOUT_MS = 30_000;
export const JUDGEMENT_REASON_MAX_CHARACTERS = 1_000;

/** What a model reads of one tool output, unless the host is configured otherwise: some 8,000 tokens. */
export const MODEL_OUTPUT_MAX_CHARACTERS = 32_000;
/** The least that can be configured: with less, a model reads little but notes about what it does not read. */
export const MODEL_OUTPUT_MIN_CHARACTERS = 2_000;

/** Text and data of one result that stay in the session; blobs take the rest. Longer input is referred to. */
export const INLINE_TEXT_MAX_CHARACTERS = 64 * 2 ** 10;
export const INLINE_DATA_MAX_BYTES = 16 * 2 ** 10;
/** Longer input is sent as text to every client: no answer to `resourceRead` carries more. */
export const REFERENCED_INPUT_MAX_BYTES = 4 * 2 ** 20;
/** How much of a long text stands where it was. */
export const PREVIEW_MAX_CHARACTERS = 4 * 2 ** 10;
/** The largest blob that a session names: no message that could bring one is larger. Readers take it as a whole. */
export const BLOB_MAX_BYTES = 16 * 2 ** 20;
