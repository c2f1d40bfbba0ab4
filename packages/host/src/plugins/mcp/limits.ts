/** The limits of MCP servers, with their units. Servers are strangers: none may take memory or time without end. */

/** From the start of a server until its tools are known. Long, because many are fetched over the network first. */
export const MCP_START_TIMEOUT_MS = 60_000;
/** One call of a tool. */
export const MCP_CALL_TIMEOUT_MS = 300_000;

/** Until the machine of a remote server accepts a connection: people learn within 2 s that it does not. */
export const MCP_REACH_TIMEOUT_MS = 1_500;

/** A failed server is started again after 1, 2, 4, 5, 5 … seconds, so that it is used within 10 s of its return. */
export const MCP_RETRY_FIRST_MS = 1_000;
export const MCP_RETRY_MAX_MS = 5_000;
/** Retries that clients see as `starting`. Later ones leave the error in place, or they would fill the log for ever. */
export const MCP_RETRIES_SHOWN = 5;
/** For a server that was ready this long, the next failure is the first. */
export const MCP_STABLE_MS = 60_000;

/** Between the end of a server's input, which means "please end", and a signal. */
export const MCP_END_OF_INPUT_MS = 500;
/** Between that signal and the kill. */
export const MCP_GRACE_MS = 2_000;
/** How long a remote server may take to hear that its session is over. */
export const MCP_GOODBYE_MS = 1_000;

/** One message of a server: a line of its output, an event of its stream, or the body of an answer. */
export const MCP_MESSAGE_MAX_BYTES = 8 * 2 ** 20;
/** Lines in a row that are no messages. Some servers greet on the wrong stream, so a few are forgiven. */
export const MCP_GARBAGE_MAX_LINES = 100;
/** Output that may wait for a server that does not read. */
export const MCP_BACKLOG_MAX_BYTES = 8 * 2 ** 20;
/** The end of what a server wrote to its error stream, for error messages. */
export const MCP_STDERR_MAX_BYTES = 1_024;
/** Text of a server inside of the host's own messages. */
export const MCP_WORDS_MAX_CHARACTERS = 1_000;

export const MCP_SERVERS_MAX = 64;
/** Tools of one server; further ones are left out. */
export const MCP_TOOLS_MAX = 256;
export const MCP_TOOL_PAGES_MAX = 64;
/** A tool whose own name is longer is left out. */
export const MCP_TOOL_NAME_MAX_CHARACTERS = 256;
/** A longer description is cut. */
export const MCP_DESCRIPTION_MAX_CHARACTERS = 4_096;
export const MCP_TITLE_MAX_CHARACTERS = 100;
/** A tool with a larger schema is left out, for half a schema is none. */
export const MCP_SCHEMA_MAX_BYTES = 64 * 2 ** 10;
/** Reading the list again. */
export const MCP_TOOLS_TIMEOUT_MS = 30_000;
/** Between two readings of a list that keeps changing. */
export const MCP_TOOLS_REFRESH_EVERY_MS = 250;

/** Prompts of one server that people can use; further ones are left out. They stand in the state of the session. */
export const MCP_PROMPTS_MAX = 50;
export const MCP_PROMPT_ARGUMENTS_MAX = 10;
/** Of a prompt or of an argument of it; a longer one is cut. */
export const MCP_PROMPT_DESCRIPTION_MAX_CHARACTERS = 200;
/** A prompt, or an argument of it, whose own name is longer is left out. */
export const MCP_PROMPT_NAME_MAX_CHARACTERS = 80;
/** Until a server has written out a prompt that a person uses. */
export const MCP_PROMPT_TIMEOUT_MS = 20_000;

export const MCP_RESULT_MAX_BLOCKS = 100;
/** All text of one result. */
export const MCP_RESULT_TEXT_MAX_CHARACTERS = 256 * 2 ** 10;
/** All images, sounds and other bytes of one result, in base64. */
export const MCP_RESULT_DATA_MAX_CHARACTERS = 4 * 2 ** 20;
export const MCP_PROGRESS_EVERY_MS = 100;

/** A form that a server puts to a person, and how often an incomplete one is put again. */
export const MCP_ELICIT_FIELDS_MAX = 50;
export const MCP_ELICIT_OPTIONS_MAX = 200;
export const MCP_ELICIT_ROUNDS_MAX = 3;
export const MCP_ELICIT_URL_MAX_CHARACTERS = 2_000;
/** Questions of one server that may be open at once; further ones are refused. */
export const MCP_ELICIT_OPEN_MAX = 4;

/** How long a call waits for a person to sign in. */
export const MCP_SIGN_IN_TIMEOUT_MS = 15 * 60_000;
/** How often one call waits for that: a server that refuses every token does not get new ones for ever. */
export const MCP_SIGN_IN_ROUNDS_MAX = 5;

/** The description of a protected resource. */
export const MCP_RESOURCE_MAX_BYTES = 64 * 2 ** 10;
export const MCP_RESOURCE_TIMEOUT_MS = 10_000;
export const MCP_RESOURCE_MAX_ITEMS = 50;
export const MCP_RESOURCE_TEXT_MAX_CHARACTERS = 2_000;
export const MCP_TOKEN_MAX_CHARACTERS = 16 * 2 ** 10;
