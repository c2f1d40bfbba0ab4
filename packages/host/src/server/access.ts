/**
 * Decides who may connect: the checks at start (an open host needs a token), and for each request the Host header, the
 * Origin and the token, in this order, from the facts of the request alone.
 */
import { isLoopback } from '@atrium/core/util/addresses.js';
import { digestOf, matchesToken, type TokenDigest } from '@atrium/core/util/secrets.js';

/** The names of the machine itself, as they stand in a Host header. The last two are one address. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'] as const;
const HTTP_PORT = 80;
const ACCEPTED: Verdict = { ok: true };
const WRONG_HOST = refused(403, 'This Host name is not one of ours. Use localhost, or list it in --allowed-hosts.');
const WRONG_ORIGIN = refused(403, 'This Origin may not connect. List it in --allowed-origins if it should.');
/** The same answer for a missing and a wrong token, so that it reveals nothing about the token. */
const WRONG_TOKEN = refused(
  401,
  'The connection token is missing or wrong. Send it as Authorization: Bearer or ?token=.',
);

/** The user's settings, from which the policy for requests is made. */
export interface AccessPolicy {
  /** Absent: every program on this machine may connect. */
  readonly token?: string | undefined;
  /**
   * Whether the host generated the token. Such a token does not count for other machines, where no person could know
   * it.
   */
  readonly isGenerated?: boolean;
  /** Web pages that may connect, besides the host's own. */
  readonly allowedOrigins?: readonly string[];
  /** Names under which clients may reach this host, besides the usual ones. */
  readonly allowedHosts?: readonly string[];
}

/** Without a token every program that reaches the port is accepted, so only loopback addresses are allowed. */
export class TokenRequiredError extends Error {
  override readonly name = 'TokenRequiredError';
  constructor(readonly host: string) {
    super(
      `${host} can be reached from other machines, so clients need a token that you choose: ` +
        'give one with --connection-token-file <file>, or stay on this machine with --host localhost',
    );
  }

  /** For callers that check before they open anything. */
  static throwIfNeeded(host: string, { token, isGenerated }: AccessPolicy): void {
    if ((!token || isGenerated) && !isLoopback(host)) throw new TokenRequiredError(host);
  }
}

/** Throws when the policy cannot be used; called before a port is opened. */
export function checkAccess(host: string, policy: AccessPolicy): void {
  TokenRequiredError.throwIfNeeded(host, policy);
  for (const origin of policy.allowedOrigins ?? []) checkedOrigin(origin);
}

/** Binds to every address of the machine. */
function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '[::]';
}

interface BoundAddresses {
  /** As the user named it. */
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
  /** All addresses of the machine: a wildcard stands for them. */
  readonly machine: readonly string[];
}

export function upgradePolicy(policy: AccessPolicy, { host, port, addresses, machine }: BoundAddresses): UpgradePolicy {
  const bound = isWildcard(host) ? machine : [host, ...addresses];
  const names = [...LOOPBACK_NAMES, ...[...bound, ...(policy.allowedHosts ?? [])].map(bracketed)];
  return {
    port,
    names: new Set(names),
    origins: new Set((policy.allowedOrigins ?? []).map(checkedOrigin)),
    token: policy.token ? digestOf(policy.token) : undefined,
  };
}

function checkedOrigin(text: string): string {
  const origin = normalOrigin(text);
  if (origin === undefined) throw new TypeError(`${text} is not an origin: write it as http://localhost:5173`);
  return origin;
}

/** Every value of a header as received: a repeated header is suspicious. */
export interface UpgradeFacts {
  /** The request target, `/?token=…`. */
  readonly url: string;
  readonly host: readonly string[];
  readonly origin: readonly string[];
  readonly authorization: readonly string[];
}

export interface UpgradePolicy {
  readonly port: number;
  readonly names: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  /** Absent when every program on this machine may connect. */
  readonly token?: TokenDigest | undefined;
}

type Verdict = { readonly ok: true } | { readonly ok: false; readonly status: 401 | 403; readonly reason: string };

export function judgeUpgrade(facts: UpgradeFacts, policy: UpgradePolicy): Verdict {
  const [host, anotherHost] = facts.host;
  if (host === undefined || anotherHost !== undefined || !isOwnHost(host, policy)) return WRONG_HOST;
  const [origin, anotherOrigin] = facts.origin;
  if (anotherOrigin !== undefined) return WRONG_ORIGIN;
  if (origin !== undefined && !isAllowedOrigin(origin, host, policy)) return WRONG_ORIGIN;
  if (policy.token === undefined) return ACCEPTED;
  return matchesToken(offeredToken(facts), policy.token) ? ACCEPTED : WRONG_TOKEN;
}

/** The one token that the request offers. Empty, which is never right, when there is none or more than one. */
function offeredToken(facts: UpgradeFacts): string {
  const offers = [...facts.authorization.map(bearerToken), ...queryTokens(facts.url)];
  const [first = ''] = offers;
  return offers.every((offer) => offer === first) ? first : '';
}

function bearerToken(authorization: string): string {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
}

/** Percent-encoding is undone once. A repeated key counts as an empty offer, even when both say the same. */
function queryTokens(url: string): string[] {
  const query = new URLSearchParams(/^[^#?]*\?([^#]*)/.exec(url)?.[1] ?? '');
  return ['token', 'tkn'].flatMap((key) => {
    const values = query.getAll(key);
    return values.length > 1 ? [''] : values;
  });
}

function refused(status: 401 | 403, reason: string): Verdict {
  return { ok: false, status, reason };
}

interface Authority {
  /** In lower case; an IPv6 address with its brackets. */
  readonly name: string;
  readonly port: number | undefined;
}

interface HostPolicy {
  readonly port: number;
  readonly names: ReadonlySet<string>;
}

/**
 * Which names a request may use for this host. A page can make its own name point at this machine (DNS rebinding), but
 * it cannot make the browser send another name than the page's. The port may be missing: a page gains nothing by
 * leaving it out.
 */
export function isOwnHost(header: string, policy: HostPolicy): boolean {
  const authority = parseAuthority(header);
  if (authority === undefined || !policy.names.has(authority.name)) return false;
  return authority.port === undefined || authority.port === policy.port;
}

/** `name`, `name:port` or `[address]:port`, and nothing around it. */
function parseAuthority(text: string): Authority | undefined {
  const match = /^(\[[\da-f:.]+\]|[\w-]+(?:\.[\w-]+)*)(?::(\d{1,5}))?$/i.exec(text);
  if (match?.[1] === undefined) return undefined;
  return { name: match[1].toLowerCase(), port: match[2] === undefined ? undefined : Number(match[2]) };
}

/** An address as it stands in a Host header or a URL. */
function bracketed(address: string): string {
  return address.includes(':') && !address.startsWith('[') ? `[${address.toLowerCase()}]` : address.toLowerCase();
}

interface OriginPolicy {
  readonly port: number;
  /** As `normalOrigin` writes them. */
  readonly origins: ReadonlySet<string>;
}

/**
 * Which web pages may connect. A browser names the page's origin in every WebSocket request, and lets any page make
 * one; other programs name none and are checked by the token alone. The request's Host header must have been accepted
 * already.
 */
function isAllowedOrigin(origin: string, hostHeader: string, policy: OriginPolicy): boolean {
  const normal = normalOrigin(origin);
  if (normal === undefined) return false;
  return policy.origins.has(normal) || isOwnPage(normal, hostHeader, policy.port);
}

/**
 * Scheme and authority in lower case; undefined for what is not an origin, such as `null`, a path or a trailing dot.
 */
function normalOrigin(text: string): string | undefined {
  const match = /^([a-z][a-z\d+.-]*):\/\/(.+)$/i.exec(text);
  if (match?.[1] === undefined || match[2] === undefined || parseAuthority(match[2]) === undefined) return undefined;
  return text.toLowerCase();
}

/** The page that this very server served: a page on another port of this machine is another program's. */
function isOwnPage(origin: string, hostHeader: string, port: number): boolean {
  const served = parseAuthority(hostHeader)?.port ?? HTTP_PORT;
  return served === port && origin === `http://${hostHeader.toLowerCase()}`;
}
