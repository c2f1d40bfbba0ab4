/** How long agents behind a command may take, and how much of what they say is kept. */

/** From the start of the command to its answer to `initialize`: launchers may unpack first. */
export const START_MAX_MS = 60_000;
/** Opening or loading a session; agents that start servers of their own take their time. */
export const SESSION_MAX_MS = 60_000;
/** How long an agent may take to answer that it has stopped a turn. Then its process ends. */
export const CANCEL_GRACE_MS = 600;
/** Between asking a process to end and killing it. */
export const END_GRACE_MS = 1_500;
/** The same for one that did not even stop a turn when asked. */
export const END_AFTER_CANCEL_GRACE_MS = 100;
/** How long one that is gone may take to tell how. */
export const EXIT_MAX_MS = 1_000;
/** How long after its end the rest of what it wrote is waited for. */
export const LAST_WORDS_MAX_MS = 200;

/** The end of what a command wrote to its error output, for whoever must find out why it failed. */
export const STDERR_TAIL_BYTES = 4 * 2 ** 10;
export const MESSAGE_MAX_BYTES = 16 * 2 ** 20;
/** Of what an agent says about a failure. */
export const ERROR_MAX_CHARACTERS = 1_000;
/** Of one tool call's output. */
export const RESULT_MAX_CHARACTERS = 64 * 2 ** 10;
/** Calls of one turn that are kept track of. */
export const CALLS_MAX = 10_000;
/** Of what a call is called. */
export const TITLE_MAX_CHARACTERS = 500;
export const CALL_ID_MAX_CHARACTERS = 500;
/** Models that an agent may offer, and what each of them may be called. */
export const MODELS_MAX = 500;
export const MODEL_TEXT_MAX_CHARACTERS = 200;
/** Reasons of denials that wait for the next prompt. */
export const UNTOLD_MAX = 20;
/** Of a file that is read for an agent. */
export const READ_MAX_BYTES = 2 * 2 ** 20;

/** What an agent that cannot load its session is told of it, counted from its end. */
export const TRANSCRIPT_TURNS_MAX = 50;
export const TRANSCRIPT_LIMITS = { maxCharacters: 24 * 2 ** 10, callMaxCharacters: 500 } as const;

/** Of one request to the host's tools. */
export const BRIDGE_BODY_MAX_BYTES = 8 * 2 ** 20;
/** An agent that waits for a tool hears this often that it is still at work, or its patience may end. */
export const BRIDGE_PROGRESS_EVERY_MS = 10_000;
