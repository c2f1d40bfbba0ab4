/**
 * The limits of customizations, with their units. Strangers write plugins, so everything that the host reads or runs is
 * bounded.
 */

/** Plugins in one folder of plugins, and in one configuration file. */
export const PLUGINS_MAX = 100;
/** Plugins that one client may publish in a session. */
export const CLIENT_PLUGINS_MAX = 50;
/** Containers that are read at the same time. */
export const LOADS_AT_ONCE = 4;

/** Requests to a client while one of its plugins is read, and how long all of them together may take. */
export const CLIENT_REQUESTS_MAX = 2_000;
export const CLIENT_REQUEST_TIMEOUT_MS = 10_000;

/** Programs save a file in several steps; the host reads once, after the last one. */
export const WATCH_DEBOUNCE_MS = 300;
/** Folders that are watched for one container. */
export const WATCHED_FOLDERS_MAX = 64;

/** Changes that come this close together are published as one. */
export const PUBLISH_MERGE_MS = 20;
/** How long the first turn waits for MCP servers, because some agents read the list of tools only once. */
export const FIRST_TOOLS_WAIT_MS = 3_000;

/** The time limit of a hook that declares none. */
export const HOOK_TIMEOUT_MS = 60_000;
/** The time between asking a hook to end and killing it. */
export const HOOK_GRACE_MS = 1_000;
/** How much a hook may print on each of its two streams. */
export const HOOK_OUTPUT_MAX_BYTES = 64 * 2 ** 10;
/** How much of a call's result hooks receive. */
export const HOOK_RESPONSE_MAX_CHARACTERS = 256 * 2 ** 10;
/** Hooks of one container for one event that run at the same time. */
export const HOOKS_AT_ONCE = 8;
/** How long the hooks at the end of a session may take together. */
export const SESSION_END_TIMEOUT_MS = 3_000;

/** How many skills and rules a prompt names. */
export const LISTED_MAX = 200;
export const LISTED_DESCRIPTION_MAX_CHARACTERS = 300;

/** Agents, skills, prompts, rules, hooks and MCP servers of one container. */
export const CHILDREN_MAX = 500;
/** One component file. */
export const FILE_MAX_BYTES = 2 ** 20;
/** `plugin.json` and `marketplace.json`. */
export const MANIFEST_MAX_BYTES = 256 * 2 ** 10;
/** All component files of one container together; their bodies stay in memory. */
export const CONTAINER_MAX_BYTES = 16 * 2 ** 20;
/** A folder with more entries is not read at all, because which part of it were read would be random. */
export const FOLDER_MAX_ENTRIES = 2_000;
/** The YAML at the beginning of a file. Malicious YAML of this size occupies the parser for a tenth of a second. */
export const FRONTMATTER_MAX_CHARACTERS = 16 * 2 ** 10;
/** Warnings that are kept; later ones are only counted. */
export const WARNINGS_MAX = 100;

/** Names of plugins, agents and skills, as the formats limit them. */
export const NAME_MAX_CHARACTERS = 64;
/** Names that are only keys, such as those of MCP servers. */
export const KEY_MAX_CHARACTERS = 128;
/** The limit of Agent Skills; a longer description is cut. */
export const DESCRIPTION_MAX_CHARACTERS = 1_024;
/** Globs of one rule. */
export const GLOBS_MAX = 100;
/** Paths in one field of a manifest. */
export const LOCATIONS_MAX = 100;

export const HOOK_MATCHER_MAX_CHARACTERS = 1_000;
/** The longest timeout that a hook may declare. */
export const HOOK_TIMEOUT_MAX_SECONDS = 600;

/** Plugins of one marketplace or one folder of plugins. */
export const FOUND_PLUGINS_MAX = 500;
/** How many folders are searched for plugins when there is no index. */
export const SEARCHED_FOLDERS_MAX = 1_000;
