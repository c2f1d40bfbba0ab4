/** Limits of permission rules, and of what they are tried on. */

/** A longer command line is not looked at: a person is asked. */
export const COMMAND_MAX_CHARACTERS = 10_000;
/** Simple commands of one line, with those in substitutions. A line with more is asked about. */
export const LINE_COMMANDS_MAX = 64;
/** How deep substitutions and `sh -c` may be nested. */
export const LINE_DEPTH_MAX = 6;
/** Signs in a line that may open something. Hostile lines have thousands, and reading them takes long. */
export const LINE_OPENINGS_MAX = 200;
/** Words of one command; a line with more is asked about. */
export const COMMAND_WORDS_MAX = 512;
/** The text of one rule. */
export const RULE_MAX_CHARACTERS = 1_000;
/** Rules of one place (a file, a session). Further ones are not read. */
export const RULES_MAX = 500;
/** Files that one call may name; a call with more is asked about. */
export const CALL_FILES_MAX = 200;
/** Rules that one "always allow" writes. */
export const PROPOSED_RULES_MAX = 5;
