/** Limits of a cluster. */

/** How often each host raises its beat, and checks those of the others. */
export const BEAT_MS = 1_000;
/** A host is dead after this many looks, one `BEAT_MS` apart, with the same beat. */
export const LOOKS_UNTIL_DEAD = 6;
/** This many looks are enough if the machine refuses connections to the host's link address. */
export const LOOKS_WHEN_REFUSED = 2;
/** A host that could not raise its beat for this long may have been declared dead. */
export const CUT_OFF_MS = 6_000;
/** How long a host may take to answer on a link. */
export const LINK_TIMEOUT_MS = 1_000;
/** One message on a link, in bytes. */
export const LINK_MESSAGE_MAX_BYTES = 4_096;
/** Links from peers that have not proved yet that they know the secret, at the same time. */
export const LINKS_MAX = 256;
/** Clients of other hosts, and their HTTP requests, that the active host serves at the same time. */
export const RELAYS_MAX = 4_096;
/** The time limit for each step of setting up a relay: the question, its answer, the encryption. */
export const RELAY_TIMEOUT_MS = 5_000;
/** How often a host that stands by asks the active host whether it is alive. */
export const LINK_LOOK_MS = 1_000;
/** After this many unanswered questions in a row, the active host counts as gone. */
export const LINK_MISSES_MAX = 6;
/** A client of a host that stands by is cut off after reading nothing for this long. */
export const RELAY_STALL_MS = 30_000;
/** How long a client may take to close its side after it was told to leave. */
export const RELAY_LINGER_MS = 2_000;
/** How long a drained host waits for running turns. */
export const DRAIN_MS = 600_000;
/** Programs, and connections of programs to the active host, that one host serves for another at the same time. */
export const PROGRAM_STREAMS_MAX = 4_096;
/** How often two hosts tell each other that they are still there, for each program that one runs for the other. */
export const PROGRAM_PING_MS = 1_000;
/** A program is lost, and ends, when its two hosts have heard nothing from each other for this long. */
export const PROGRAM_SILENT_MS = 6_000;
/** How long another host may take to say whether a program has started. */
export const PROGRAM_START_MAX_MS = 15_000;
/** How long another host may take to end a program, beyond the time that the program itself has. */
export const PROGRAM_END_MAX_MS = 3_000;
/** How long after a host could not start a command it is not asked for that command again. */
export const COMMAND_MISSING_MS = 60_000;
/** How long a host that could not start a program, for a reason of its own, is not asked again. */
export const FAILED_HOST_MS = 10_000;
/**
 * A session goes back to the host where it worked last while that has at most this many times the sessions at work of the
 * least busy host, and so many more.
 */
export const LOAD_FACTOR_MAX = 2;
export const LOAD_MORE_MAX = 2;
/** How many sessions the active host remembers the last host of. */
export const PLACES_REMEMBERED_MAX = 10_000;
