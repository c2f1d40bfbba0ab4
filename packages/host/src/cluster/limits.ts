/** Limits of a cluster. */

/** Each host raises its beat, and looks at those of the others, this often. */
export const BEAT_MS = 1_000;
/** A host is dead when its beat was the same in this many looks, one `BEAT_MS` after the other. */
export const LOOKS_UNTIL_DEAD = 6;
/** So many are enough when nobody listens any more at the address of its link. */
export const LOOKS_WHEN_REFUSED = 2;
/** A host that could not raise its beat for this long may have been declared dead. */
export const CUT_OFF_MS = 6_000;
/** How long a host has for its answer on a link. */
export const LINK_TIMEOUT_MS = 1_000;
/** One message on a link, in bytes. */
export const LINK_MESSAGE_MAX_BYTES = 4_096;
/** Links from others that have not proved yet that they know the secret, at the same time. */
export const LINKS_MAX = 256;
/** Clients of other hosts at the active one, and their requests in HTTP, at the same time. */
export const RELAYS_MAX = 1_024;
/** How long the next step to a relay may take: the question, its answer, the encryption. */
export const RELAY_TIMEOUT_MS = 5_000;
/** A host that stands by asks the active one this often whether it is there. */
export const LINK_LOOK_MS = 1_000;
/** A link on which so many questions in a row had no answer is down. */
export const LINK_MISSES_MAX = 6;
/** A client at a host that stands by that takes nothing for this long is cut off. */
export const RELAY_STALL_MS = 30_000;
/** How long a client that is sent away may take to close its side. */
export const RELAY_LINGER_MS = 2_000;
/** How long a host that is drained waits for the turns that run. */
export const DRAIN_MS = 600_000;
