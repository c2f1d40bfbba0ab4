/** Limits of rendering a prompt. */

/** How long the active client may take to rewrite prompt sections. */
export const TRANSFORM_TIMEOUT_MS = 5_000;
export const TRANSFORM_MAX_SECTIONS = 32;
export const TRANSFORM_MAX_BYTES = 256 * 2 ** 10;
/** What a section of the prompt may grow to by what extensions add. */
export const PROMPT_SECTION_MAX_CHARACTERS = 256 * 2 ** 10;
/** How long one callback about a section may take, and all of one prompt together. */
export const CALLBACK_TIMEOUT_MS = 2_000;
export const CALLBACKS_TIMEOUT_MS = 4_000;
/** Files that rules are told of: the newest ones that a turn has to do with. */
export const RENDER_FILES_MAX = 200;
/** What a client may add to the prompt of a session when it creates it, in all sections together. */
export const SESSION_SECTIONS_MAX_BYTES = 64 * 2 ** 10;
