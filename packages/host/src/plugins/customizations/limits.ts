/** The limits of customizations at work, with their units. Most of them are written by strangers. */

/** Plugins in one folder of plugins, and in one configuration file. */
export const PLUGINS_MAX = 100;
/** Plugins that one client may publish in a session. */
export const CLIENT_PLUGINS_MAX = 50;
/** Containers that are read at the same time. */
export const LOADS_AT_ONCE = 4;

/** Requests to a client while one of its plugins is read, and how long all of them may take. */
export const CLIENT_REQUESTS_MAX = 2_000;
export const CLIENT_REQUEST_TIMEOUT_MS = 10_000;

/** Programs save a file in several steps; one look after the last of them is enough. */
export const WATCH_DEBOUNCE_MS = 300;
/** Folders that are watched for one container. */
export const WATCHED_FOLDERS_MAX = 64;

/** Changes that come this close together are told as one. */
export const PUBLISH_MERGE_MS = 20;
/** How long the first turn waits for MCP servers: some agents look at their tools only once. */
export const FIRST_TOOLS_WAIT_MS = 3_000;

/** A hook that says nothing about its time. */
export const HOOK_TIMEOUT_MS = 60_000;
/** Between asking a hook to end and killing it. */
export const HOOK_GRACE_MS = 1_000;
/** Everything that a hook prints, on each of its two streams. */
export const HOOK_OUTPUT_MAX_BYTES = 64 * 2 ** 10;
/** The result of a call as hooks get it. */
export const HOOK_RESPONSE_MAX_CHARACTERS = 256 * 2 ** 10;
/** Hooks of one container for one event that run at the same time. */
export const HOOKS_AT_ONCE = 8;
/** At the end of a session nobody waits longer. */
export const SESSION_END_TIMEOUT_MS = 3_000;

/** Skills and rules that the model is told of by name. */
export const LISTED_MAX = 200;
export const LISTED_DESCRIPTION_MAX_CHARACTERS = 300;
