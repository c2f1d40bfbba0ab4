/** Limits of permission rules, and of what they are applied to. */

/** A longer command line is not parsed; a person is asked. */
export const COMMAND_MAX_CHARACTERS = 10_000;
/** Most simple commands in one line, including those in substitutions. For more, a person is asked. */
export const LINE_COMMANDS_MAX = 64;
/** How deep substitutions and `sh -c` may be nested. */
export const LINE_DEPTH_MAX = 6;
/** Most characters of a line that may open something. Hostile lines have thousands, and parsing them takes long. */
export const LINE_OPENINGS_MAX = 200;
/** Most words of one command; for more, a person is asked. */
export const COMMAND_WORDS_MAX = 512;
/** Longest text of one rule. */
export const RULE_MAX_CHARACTERS = 1_000;
/** Most rules of one place (a file, a session); further ones are not read. */
export const RULES_MAX = 500;
/** Most files that one call may name; for more, a person is asked. */
export const CALL_FILES_MAX = 200;
/** Most rules that one "always allow" may write. */
export const PROPOSED_RULES_MAX = 5;
