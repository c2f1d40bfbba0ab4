/** Limits of rendering a prompt. */

/** How long the active client may take to rewrite prompt sections. */
export const TRANSFORM_TIMEOUT_MS = 5_000;
export const TRANSFORM_MAX_SECTIONS = 32;
export const TRANSFORM_MAX_BYTES = 256 * 2 ** 10;
/** How large extensions may make a section of the prompt. */
export const PROMPT_SECTION_MAX_CHARACTERS = 256 * 2 ** 10;
/** How long one callback about a section may take, and all callbacks of one prompt together. */
export const CALLBACK_TIMEOUT_MS = 2_000;
export const CALLBACKS_TIMEOUT_MS = 4_000;
/** How many files rules are told of: the turn's newest. */
export const RENDER_FILES_MAX = 200;
/** How much a client may add to the prompt of a session that it creates, in all sections together. */
export const SESSION_SECTIONS_MAX_BYTES = 64 * 2 ** 10;
