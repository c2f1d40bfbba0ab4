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
/** Links from others that are open at the same time; a link lives for one question. */
export const LINKS_MAX = 64;
/** How long a host that is drained waits for the turns that run. */
export const DRAIN_MS = 600_000;
