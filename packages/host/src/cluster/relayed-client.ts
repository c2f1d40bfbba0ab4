/**
 * What a host that stands by says about a client that it passes on: where the client comes from, never what it may do.
 */
import type { RelayedSource } from '../server/forwarded.js';
import { plainAddress } from '../server/peer-address.js';

export type RelayedClient = RelayedSource;

/** Parses the text on the link; undefined when it is malformed. */
export function relayedClient(text: string): RelayedClient | undefined {
  const value: unknown = parsed(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { address, scheme, host, isProxied, relayedPort }: Partial<Record<keyof RelayedClient, unknown>> = value;
  if (!isAddress(address) || (scheme !== 'http' && scheme !== 'https')) return undefined;
  if (typeof isProxied !== 'boolean' || !isPort(relayedPort)) return undefined;
  const [name, another] = Array.isArray(host) ? host : [];
  if (typeof name !== 'string' || another !== undefined || !AUTHORITY.test(name)) return undefined;
  return { address, scheme, host: [name], isProxied, relayedPort };
}

/** The syntax of a Host header. The other host has checked that the name is one of its own. */
const AUTHORITY = /^[\w.:[\]-]+$/;
const PORT_MAX = 65_535;

/** `unknown` if the client's socket was gone already. */
function isAddress(value: unknown): value is string {
  return typeof value === 'string' && (value === 'unknown' || plainAddress(value) === value);
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= PORT_MAX;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
