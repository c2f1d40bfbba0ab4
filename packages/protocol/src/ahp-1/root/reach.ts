/** Reach: a method of our own beside the protocol, with which the owner opens a way into the host for a time. */

/** Makes an origin, such as `https://name`, the host's own for as long as the connection lasts that asks for it. */
export const REACH_METHOD = 'atrium/reach';
