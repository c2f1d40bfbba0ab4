/** Where a request may carry its token: a header, a subprotocol, the query, or the cookie of the page. */
import { TOKEN_SUBPROTOCOL } from '@atrium/protocol/ahp-1';
import type { RequestSource } from './forwarded.js';

/** How long a browser keeps the cookie; browsers allow no more. */
export const COOKIE_KEPT_SECONDS = 400 * 24 * 60 * 60;
const QUERY_MEMBERS = ['token', 'tkn'] as const;

/** Holds every value of a header as received: a repeated header is suspicious. */
export interface OfferedFacts {
  /** The request target, `/?token=…`. */
  readonly url: string;
  readonly authorization: readonly string[];
  /** The values of `Sec-WebSocket-Protocol`. */
  readonly protocols?: readonly string[] | undefined;
  readonly cookie?: readonly string[] | undefined;
}

/**
 * The token that the request names. An empty string, which never matches, when it names several; undefined when it
 * names none.
 */
export function offeredToken({ url, authorization, protocols = [] }: OfferedFacts): string | undefined {
  const offers = [...authorization.map(bearerToken), ...queryTokens(url), ...protocolTokens(protocols)];
  const [first] = offers;
  return offers.every((offer) => offer === first) ? first : '';
}

function bearerToken(authorization: string): string {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
}

/** Decodes percent-encoding once. A repeated key counts as an empty offer, even if both values are equal. */
export function queryTokens(url: string): string[] {
  const query = new URLSearchParams(/^[^#?]*\?([^#]*)/.exec(url)?.[1] ?? '');
  return QUERY_MEMBERS.flatMap((key) => {
    const values = query.getAll(key);
    return values.length > 1 ? [''] : values;
  });
}

/** Removes the token from a request target. A target that begins with two slashes would name another host. */
export function withoutToken(url: string): string {
  if (!URL.canParse(url, 'http://host')) return '/';
  const { pathname, searchParams } = new URL(url, 'http://host');
  for (const member of QUERY_MEMBERS) searchParams.delete(member);
  const query = searchParams.toString();
  return `${pathname.replace(/^\/+/, '/')}${query === '' ? '' : `?${query}`}`;
}

function protocolTokens(protocols: readonly string[]): string[] {
  return namesIn(protocols)
    .filter((name) => name.startsWith(TOKEN_SUBPROTOCOL))
    .map((name) => name.slice(TOKEN_SUBPROTOCOL.length));
}

function namesIn(protocols: readonly string[]): string[] {
  return protocols.flatMap((value) => value.split(',')).map((name) => name.trim());
}

/** The subprotocol that the host accepts: never the one with the token, because answers may be logged. */
export function agreedProtocol(offered: ReadonlySet<string>): string | false {
  for (const name of offered) if (!name.startsWith(TOKEN_SUBPROTOCOL)) return name;
  return false;
}

/** Each host of a machine has its own cookie. With TLS, the prefix keeps other servers from setting it. */
function cookieName(hostId: string, scheme: RequestSource['scheme']): string {
  return `${scheme === 'https' ? '__Host-' : ''}atrium-${hostId}`;
}

/** The token in the cookie of this host; undefined without one, empty when there are several. */
export function cookieToken(
  { cookie = [], scheme }: Pick<OfferedFacts, 'cookie'> & Pick<RequestSource, 'scheme'>,
  hostId: string,
): string | undefined {
  const start = `${cookieName(hostId, scheme)}=`;
  const pairs = cookie.flatMap((value) => value.split(';')).map((pair) => pair.trim());
  const [only, another] = pairs.filter((pair) => pair.startsWith(start));
  if (only === undefined) return undefined;
  return another === undefined ? only.slice(start.length) : '';
}

interface CookieOptions {
  readonly hostId: string;
  readonly scheme: RequestSource['scheme'];
  /** Seconds until the access ends. */
  readonly seconds?: number | undefined;
}

/**
 * The Set-Cookie header that gives a page its token. Scripts cannot read the cookie, and other pages cannot send it.
 */
export function tokenCookie(token: string, { hostId, scheme, seconds }: CookieOptions): string {
  const age = Math.max(0, Math.min(Math.floor(seconds ?? COOKIE_KEPT_SECONDS), COOKIE_KEPT_SECONDS));
  const secure = scheme === 'https' ? '; Secure' : '';
  return `${cookieName(hostId, scheme)}=${token}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`;
}
