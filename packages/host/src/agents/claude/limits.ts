/** The limits of the Claude agent, with their units. */

/** A person may take their time over a question; the SDK's own limits on callbacks are far shorter. */
export const ANSWER_MAX_SECONDS = 7 * 24 * 60 * 60;
/** How long the program may take to stop when it is told to; then it is killed. A cancelled turn ends within a second. */
export const STOP_MAX_MS = 500;
/** Between asking what is left of it to end and killing that: it has had its time. */
export const KILL_GRACE_MS = 50;
/** How long it may take to end by itself after its answer: it still writes down what was said. */
export const EXIT_MAX_MS = 10_000;
/** The program's last words, for an error message. */
export const LAST_WORDS_MAX_CHARACTERS = 2_000;

/** The program shows the model only a preview of what a hook adds beyond this; it says 10,000. */
export const HOOK_CONTEXT_MAX_CHARACTERS = 9_000;
/** How much of a tool's result is shown to people. The model reads all of it. */
export const SHOWN_RESULT_MAX_CHARACTERS = 100_000;
/** In one line about a call: a command, a path. */
export const SUBJECT_MAX_CHARACTERS = 80;

/** Where turns ended is remembered, so that history can be cut there: the newest, within what an agent may keep. */
export const MARKS_MAX_CHARACTERS = 12_000;
/** Finished turns that are looked at to find the last one that Claude knows. */
export const HISTORY_TURNS_MAX = 50;
/** What is told of a session that Claude does not know any more; the newest turns stay. */
export const TRANSCRIPT_LIMITS = { maxCharacters: 100_000, callMaxCharacters: 2_000 } as const;
