/**
 * Which web pages may connect. A browser names the page's origin in every WebSocket request, and lets any page make
 * one; programs that are not browsers name none and are told apart by the token alone.
 */
import { parseAuthority } from './host-header.js';

const HTTP_PORT = 80;

export interface OriginPolicy {
  readonly port: number;
  /** As `normalOrigin` writes them. */
  readonly origins: ReadonlySet<string>;
}

/** Scheme and authority in lower case; undefined for what is not an origin, such as `null`, a path or a trailing dot. */
export function normalOrigin(text: string): string | undefined {
  const match = /^([a-z][a-z\d+.-]*):\/\/(.+)$/i.exec(text);
  if (match?.[1] === undefined || match[2] === undefined || parseAuthority(match[2]) === undefined) return undefined;
  return text.toLowerCase();
}

/** The request's Host header must have been accepted already. */
export function isAllowedOrigin(origin: string, hostHeader: string, policy: OriginPolicy): boolean {
  const normal = normalOrigin(origin);
  if (normal === undefined) return false;
  return policy.origins.has(normal) || isOwnPage(normal, hostHeader, policy.port);
}

/** The page that this very server served: a page on another port of this machine is somebody else's. */
function isOwnPage(origin: string, hostHeader: string, port: number): boolean {
  const served = parseAuthority(hostHeader)?.port ?? HTTP_PORT;
  return served === port && origin === `http://${hostHeader.toLowerCase()}`;
}
