/** What a host that stands by says about a client that it passes on: where it comes from, never what it may do. */
import type { RelayedSource } from '../server/forwarded.js';

export type RelayedClient = RelayedSource;

/** From the text on the link; undefined when it is not one. */
export function relayedClient(text: string): RelayedClient | undefined {
  const value: unknown = parsed(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { address, scheme, host, isProxied, relayedPort }: Partial<Record<keyof RelayedClient, unknown>> = value;
  if (typeof address !== 'string' || (scheme !== 'http' && scheme !== 'https')) return undefined;
  if (typeof isProxied !== 'boolean' || typeof relayedPort !== 'number') return undefined;
  const [name, another] = Array.isArray(host) ? host : [];
  if (typeof name !== 'string' || another !== undefined) return undefined;
  return { address, scheme, host: [name], isProxied, relayedPort };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
