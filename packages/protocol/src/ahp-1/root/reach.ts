/** Reach: a method of our own beside the protocol, with which the owner opens a way to the host for a time. */

/** Makes an origin, such as `https://name`, the host's own while the connection that asked for it lasts. */
export const REACH_METHOD = 'atrium/reach';
