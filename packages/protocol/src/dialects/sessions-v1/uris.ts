/**
 * Channel URIs in both spellings. Sessions-v1 puts the provider into a session's scheme (`copilot:/1`), the internal
 * model does not (`ahp-session:/1`). There is no table that a restart could lose: the host knows the provider of a
 * session, and both directions are computed from it. A session with its own scheme is shown with that scheme. A
 * provider id must not contain a colon.
 */
import { channelKind, ROOT_CHANNEL } from '../../channels.js';
import type { DialectConnection } from '../dialect-0.3.js';
import type { SessionsV1RootUri } from './wire.js';

export type ProviderOf = (channel: string) => string | undefined;

export const DEFAULT_ROOT_URI: SessionsV1RootUri = 'agenthost:root';
/** How the later generation of clients spells the root. */
export const SLASHED_ROOT_URI: SessionsV1RootUri = 'agenthost:/root';

const SESSION_SCHEME = 'ahp-session';
const ROOT_URIS: ReadonlySet<string> = new Set([DEFAULT_ROOT_URI, SLASHED_ROOT_URI]);

/** How a connection spells the root, once it is known. */
export function rootUriOf({ rootUri }: DialectConnection): SessionsV1RootUri | undefined {
  return isRootUri(rootUri) ? rootUri : undefined;
}

export function isRootUri(uri: unknown): uri is SessionsV1RootUri {
  return typeof uri === 'string' && ROOT_URIS.has(uri);
}

/** The name of a session in sessions-v1. */
export function sessionToWire(channel: string, provider: string | undefined): string {
  const { scheme, rest } = split(channel);
  return scheme === SESSION_SCHEME && provider !== undefined ? `${provider}:${rest}` : channel;
}

/**
 * The session that a sessions-v1 URI names. `copilot:/1` is `ahp-session:/1` if that belongs to copilot; otherwise a
 * session with exactly this name, if there is one; otherwise the name that copilot's session would have.
 */
export function sessionFromWire(uri: string, providerOf: ProviderOf): string {
  const { scheme, rest } = split(uri);
  const mapped = `${SESSION_SCHEME}:${rest}`;
  if (providerOf(mapped) === scheme) return mapped;
  return providerOf(uri) === undefined ? mapped : uri;
}

/**
 * The name and provider of a new session. With a foreign provider's scheme, it keeps its name, so that it maps back.
 */
export function newSessionFromWire(uri: string, given: string | undefined): { channel: string; provider?: string } {
  const { scheme, rest } = split(uri);
  if (scheme === SESSION_SCHEME) return { channel: uri, provider: given };
  if (given !== undefined && given !== scheme) return { channel: uri, provider: given };
  return { channel: `${SESSION_SCHEME}:${rest}`, provider: scheme };
}

/** The channel that a sessions-v1 client means; undefined for kinds of channels that sessions-v1 lacks. */
export function channelFromWire(uri: string, providerOf: ProviderOf): string | undefined {
  if (isRootUri(uri)) return ROOT_CHANNEL;
  return channelKind(uri) === 'session' ? sessionFromWire(uri, providerOf) : undefined;
}

function split(uri: string): { scheme: string; rest: string } {
  const colon = uri.indexOf(':');
  return colon < 0 ? { scheme: '', rest: uri } : { scheme: uri.slice(0, colon), rest: uri.slice(colon + 1) };
}
