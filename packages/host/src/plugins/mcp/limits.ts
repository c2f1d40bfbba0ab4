/**
 * The limits of MCP servers, with their units. Servers are written by strangers: none may use unlimited memory or time.
 */

/** From the start of a server until its tools are known. Long, because many are first fetched over the network. */
export const MCP_START_TIMEOUT_MS = 60_000;
/** How long one call of a tool may take. */
export const MCP_CALL_TIMEOUT_MS = 300_000;

/**
 * How long the machine of a remote server may take to accept a connection. So people learn within 2 s that it does not.
 */
export const MCP_REACH_TIMEOUT_MS = 1_500;

/** A failed server is restarted after 1, 2, 4, 5, 5 … seconds, so that it is used within 10 s of its return. */
export const MCP_RETRY_FIRST_MS = 1_000;
export const MCP_RETRY_MAX_MS = 5_000;
/**
 * Retries that clients see as `starting`. Later ones leave the error in place, because otherwise they would fill the
 * log for ever.
 */
export const MCP_RETRIES_SHOWN = 5;
/** After a server was ready this long, its next failure counts as the first. */
export const MCP_STABLE_MS = 60_000;

/** The time between closing a server's input, which means "please end", and a signal. */
export const MCP_END_OF_INPUT_MS = 500;
/** The time between that signal and the kill. */
export const MCP_GRACE_MS = 2_000;
/** How long a remote server may take to accept the end of its session. */
export const MCP_GOODBYE_MS = 1_000;

/** One message of a server: a line of its output, an event of its stream, or the body of an answer. */
export const MCP_MESSAGE_MAX_BYTES = 8 * 2 ** 20;
/** Lines in a row that are not messages. Some servers print a greeting on the wrong stream, so a few are tolerated. */
export const MCP_GARBAGE_MAX_LINES = 100;
/** How much output may wait for a server that does not read. */
export const MCP_BACKLOG_MAX_BYTES = 8 * 2 ** 20;
/** How much of the end of a server's error stream is kept for error messages. */
export const MCP_STDERR_MAX_BYTES = 1_024;
/** How much text of a server the host's own messages include. */
export const MCP_TEXT_MAX_CHARACTERS = 1_000;

export const MCP_SERVERS_MAX = 64;
/** Tools of one server; further ones are left out. */
export const MCP_TOOLS_MAX = 256;
export const MCP_TOOL_PAGES_MAX = 64;
/** A tool whose own name is longer is left out. */
export const MCP_TOOL_NAME_MAX_CHARACTERS = 256;
/** A longer description is cut. */
export const MCP_DESCRIPTION_MAX_CHARACTERS = 4_096;
export const MCP_TITLE_MAX_CHARACTERS = 100;
/** A tool with a larger schema is left out, because half a schema is useless. */
export const MCP_SCHEMA_MAX_BYTES = 64 * 2 ** 10;
/** How long reading the list again may take. */
export const MCP_TOOLS_TIMEOUT_MS = 30_000;
/** The shortest time between two readings of a list that keeps changing. */
export const MCP_TOOLS_REFRESH_EVERY_MS = 250;

/**
 * Prompts of one server that people can use; further ones are left out, because all are in the state of the session.
 */
export const MCP_PROMPTS_MAX = 50;
export const MCP_PROMPT_ARGUMENTS_MAX = 10;
/** The description of a prompt or of its argument; a longer one is cut. */
export const MCP_PROMPT_DESCRIPTION_MAX_CHARACTERS = 200;
/** A prompt with a longer name, or with an argument that has one, is left out. */
export const MCP_PROMPT_NAME_MAX_CHARACTERS = 80;
/** How long a server may take to expand a prompt that a person uses. */
export const MCP_PROMPT_TIMEOUT_MS = 20_000;

export const MCP_RESULT_MAX_BLOCKS = 100;
/** All text of one result. */
export const MCP_RESULT_TEXT_MAX_CHARACTERS = 256 * 2 ** 10;
/** All images, sounds and other bytes of one result, in base64. */
export const MCP_RESULT_DATA_MAX_CHARACTERS = 4 * 2 ** 20;
export const MCP_PROGRESS_EVERY_MS = 100;

/** The fields of a form that a server shows to a person, and how often an incomplete form is shown again. */
export const MCP_ELICIT_FIELDS_MAX = 50;
export const MCP_ELICIT_OPTIONS_MAX = 200;
export const MCP_ELICIT_ROUNDS_MAX = 3;
export const MCP_ELICIT_URL_MAX_CHARACTERS = 2_000;
/** Questions of one server that may be open at once; further ones are refused. */
export const MCP_ELICIT_OPEN_MAX = 4;

/** How long a call waits for a person to sign in. */
export const MCP_SIGN_IN_TIMEOUT_MS = 15 * 60_000;
/** How often one call waits for that, so that a server that refuses every token does not get new ones for ever. */
export const MCP_SIGN_IN_ROUNDS_MAX = 5;

/** The size of a protected resource's description. */
export const MCP_RESOURCE_MAX_BYTES = 64 * 2 ** 10;
export const MCP_RESOURCE_TIMEOUT_MS = 10_000;
export const MCP_RESOURCE_MAX_ITEMS = 50;
export const MCP_RESOURCE_TEXT_MAX_CHARACTERS = 2_000;
export const MCP_TOKEN_MAX_CHARACTERS = 16 * 2 ** 10;
