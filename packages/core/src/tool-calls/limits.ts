/** Limits of one tool call and of the extensions around it. */

/** How long all gates of a call may take together. If a gate has not answered by then, the call does not run. */
export const GATES_TIMEOUT_MS = 5_000;
/** How much of a gate's reason or note is passed on. */
export const GATE_TEXT_MAX_CHARACTERS = 4_000;
/** How long an extension may take when a turn begins or a call has ended; hooks run whole programs there. */
export const EXTENSION_TIMEOUT_MS = 10 * 60 * 1_000;
/** Most text that all extensions together may add to the message of one turn. */
export const TURN_CONTEXT_MAX_CHARACTERS = 256 * 2 ** 10;

/** How long assessing a call may take, and how much of the reason is shown. */
export const JUDGEMENT_TIMEOUT_MS = 30_000;
export const JUDGEMENT_REASON_MAX_CHARACTERS = 1_000;

/** How much of one tool output a model reads, unless configured otherwise: about 8,000 tokens. */
export const MODEL_OUTPUT_MAX_CHARACTERS = 32_000;
/** The least that can be configured: with less, a model would read little but notes about what was left out. */
export const MODEL_OUTPUT_MIN_CHARACTERS = 2_000;

/** Text and data of one result that stay in the session; the rest goes to blobs. Longer input is sent by reference. */
export const INLINE_TEXT_MAX_CHARACTERS = 64 * 2 ** 10;
export const INLINE_DATA_MAX_BYTES = 16 * 2 ** 10;
/** Input longer than this is sent as text to every client, because an answer to `resourceRead` cannot carry it. */
export const REFERENCED_INPUT_MAX_BYTES = 4 * 2 ** 20;
/** How much of a long text stays as a preview. */
export const PREVIEW_MAX_CHARACTERS = 4 * 2 ** 10;
/** The largest blob that a session names: no message could bring a larger one. Readers load a blob as a whole. */
export const BLOB_MAX_BYTES = 16 * 2 ** 20;
