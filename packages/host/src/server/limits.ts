/** Limits of the port: how many connections, and how soon a silent one is dropped. */

export const CLIENTS_MAX = 256;
export const UNAUTHENTICATED_MAX = 32;
export const HEARTBEAT_MS = 15_000;
