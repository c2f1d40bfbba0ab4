/** How long discovery may take, and how much it reads. */

/** For a server that nobody named. */
export const GUESS_TIMEOUT_MS = 500;
/** For a server that a person named; it may be far away. */
export const NAMED_TIMEOUT_MS = 2_000;
/** Added to these for a whole look, so that its own limit, which says more, comes first. */
export const LOOK_SLACK_MS = 100;
/** A list of models; hundreds of them fit. */
export const MODEL_LIST_MAX_BYTES = 1024 * 1024;
/** Models of one server that are offered. All of them travel to every client. */
export const MODELS_MAX = 500;
export const MODEL_ID_MAX_CHARACTERS = 200;
/** Folders of PATH that are searched. */
export const PATH_FOLDERS_MAX = 200;
