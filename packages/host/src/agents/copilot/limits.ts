/** The limits of the Copilot backend, with their units. */

/** How long the runtime may take to give up a turn. */
export const ABORT_MAX_MS = 400;
/** How long it may take to say that it is there at all; after that it is killed. */
export const PING_MAX_MS = 400;
/** How long a turn that was given up may take to fall silent, so that nothing of it ends up in the next one. */
export const SILENCE_MAX_MS = 200;
/** Between asking a command of a turn that was given up to end and killing it; the runtime has asked it before. */
export const COMMAND_GRACE_MS = 50;
/** How long a session may take to close. */
export const CLOSE_MAX_MS = 500;
/** How long the runtime may take to end by itself; after that it is killed. */
export const STOP_MAX_MS = 1_500;
/** How often a turn looks whether the runtime is still there: the SDK does not say when it dies. */
export const RUNTIME_CHECK_MS = 1_000;

/** Finished turns that are told again to a session that Copilot does not know (any more). */
export const TRANSCRIPT_TURNS_MAX = 50;
/** How much of them is told, in all; the newest stay. */
export const TRANSCRIPT_LIMITS = { maxCharacters: 40_000, callMaxCharacters: 2_000 } as const;

/** What is left of a command or a path in a line for people. */
export const WORDS_MAX_CHARACTERS = 80;
/** What is left of a command in a question: a person must see what they agree to. */
export const QUESTION_MAX_CHARACTERS = 2_000;
/** How much of a tool's output is shown; the model reads Copilot's own copy of it. */
export const OUTPUT_MAX_CHARACTERS = 256 * 1024;
