/** The limits of the model loop, with their units. */

/** Requests to the model in one turn; a loop that has not ended by then is stopped. */
export const STEPS_MAX = 50;
/** Further attempts after a failure that may pass, such as an overloaded server. */
export const RETRIES_MAX = 2;
/** Calls that are run in one step; the model is told to make the others later. */
export const CALLS_PER_STEP_MAX = 100;
/** What one answer may have, of each kind. One with more is broken off: its server does not know an end. */
export const ANSWER_TEXT_MAX_CHARACTERS = 2 ** 20;
export const ANSWER_REASONING_MAX_CHARACTERS = 2 ** 20;
export const ANSWER_INPUT_MAX_CHARACTERS = 4 * 2 ** 20;
export const ANSWER_CALLS_MAX = 1_000;
/** One event of a stream, which is kept until it is complete; some servers repeat the whole answer in the last one. */
export const ANSWER_EVENT_MAX_BYTES = 16 * 2 ** 20;
/** A stream in all. Its events say a word each, at many times the length of the word; the SDK may keep all of them. */
export const ANSWER_MAX_BYTES = 128 * 2 ** 20;
/** Finished turns that a resumed session remembers. */
export const HISTORY_TURNS_MAX = 200;

/** The usual rule of thumb; servers count exactly, but only after the request. */
export const CHARACTERS_PER_TOKEN = 4;
/** Assumed for a model that does not say how much it can take. */
export const CONTEXT_WINDOW_DEFAULT_TOKENS = 128_000;
/** A server that found a request too long gets shorter ones, and by every one that it answers a little longer ones. */
export const LEARNT_GROWTH = 1.05;
/** What is kept free for the answer, but never more than a quarter of the window. */
export const ANSWER_RESERVE_TOKENS = 8_192;
/** No single tool output takes more of the room than this, however new it is. */
export const OUTPUT_SHARE = 0.5;
/** The newest tool outputs, which are shortened last. */
export const TOOL_OUTPUTS_KEPT = 4;
/** What is left of an older tool output when room is needed. */
export const SHORT_OUTPUT_CHARACTERS = 400;
/** Once turns are left out, the rest takes this part of the room: what comes next must not leave out the next one. */
export const KEPT_SHARE = 0.7;
/** What is left of a person's message in the summary of a turn that was left out. */
export const SUMMARY_LINE_CHARACTERS = 120;
/** Lines of that summary; the newest stay. */
export const SUMMARY_LINES_MAX = 20;

/** A summary that the model itself makes: how long it may become, as a part of the room and at most. */
export const SUMMARY_SHARE = 0.2;
export const SUMMARY_MAX_CHARACTERS = 6_000;
/** What the model reads of one message to sum it up, and how long it may take. */
export const SUMMARY_MESSAGE_CHARACTERS = 1_500;
export const SUMMARY_TIMEOUT_MS = 60_000;

/** What an image counts for; servers differ, and count by its size. */
export const IMAGE_TOKENS = 1_500;
/** A larger image is only named. */
export const IMAGE_MAX_BYTES = 5 * 2 ** 20;
export const IMAGES_MAX_PER_MESSAGE = 8;
/** Images that a model remembers, the newest, and how long they may be together: servers refuse larger requests. */
export const IMAGES_KEPT_MAX = 20;
export const IMAGES_KEPT_MAX_CHARACTERS = 24 * 2 ** 20;

/** What providers allow in the name of a tool. */
export const TOOL_NAME_MAX_CHARACTERS = 64;
/** How much of a server's own words goes into an error message. */
export const SERVER_MESSAGE_MAX_CHARACTERS = 300;

/** How much of a project's own instructions goes into the prompt. */
export const PROJECT_INSTRUCTIONS_MAX_BYTES = 32 * 2 ** 10;
