/** The limits of reading customizations, with their units. Plugins come from strangers: nothing is read without end. */

/** Agents, skills, prompts, rules, hooks and MCP servers of one container. */
export const CHILDREN_MAX = 500;
/** One component file. */
export const FILE_MAX_BYTES = 2 ** 20;
/** `plugin.json` and `marketplace.json`. */
export const MANIFEST_MAX_BYTES = 256 * 2 ** 10;
/** All component files of one container together; their bodies stay in memory. */
export const CONTAINER_MAX_BYTES = 16 * 2 ** 20;
/** A folder with more entries than this is not read at all, for any part of it would be a matter of chance. */
export const FOLDER_MAX_ENTRIES = 2_000;
/** The YAML at the beginning of a file. Malicious YAML of this size keeps the parser busy for a tenth of a second. */
export const FRONTMATTER_MAX_CHARACTERS = 16 * 2 ** 10;
/** Warnings that are kept; later ones are only counted. */
export const WARNINGS_MAX = 100;

/** Names of plugins, agents and skills, as the formats have it. */
export const NAME_MAX_CHARACTERS = 64;
/** Names that are only keys, such as those of MCP servers. */
export const KEY_MAX_CHARACTERS = 128;
/** What Agent Skills allow; a longer description is cut. */
export const DESCRIPTION_MAX_CHARACTERS = 1_024;
/** Globs of one rule. */
export const GLOBS_MAX = 100;
/** Paths in one field of a manifest. */
export const LOCATIONS_MAX = 100;

export const HOOK_MATCHER_MAX_CHARACTERS = 1_000;
/** The longest time that a hook may claim for itself. */
export const HOOK_TIMEOUT_MAX_SECONDS = 600;

/** Plugins of one marketplace or one folder of plugins. */
export const FOUND_PLUGINS_MAX = 500;
/** Folders that are looked into for plugins when there is no index. */
export const SEARCHED_FOLDERS_MAX = 1_000;
