/**
 * Decides who may connect. At start it refuses an open host without a token; for each request it checks the Host
 * header, the Origin and the token, in this order, from the facts of the request alone.
 */
import { type Access, OWNER } from '@atrium/core/contracts/access.js';
import { isLoopback } from '@atrium/core/util/addresses.js';
import { digestOf, matchesToken, type TokenDigest } from '@atrium/core/util/secrets.js';
import type { RequestSource } from './forwarded.js';
import { cookieToken, type OfferedFacts, offeredToken } from './offered-token.js';

/** The names of the machine itself, as a Host header spells them. The last two are one address. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'] as const;
const DEFAULT_PORTS = { http: 80, https: 443 } as const;
const WRONG_HOST = refused(403, 'This Host name is not one of ours. Use localhost, or list it in --allowed-hosts.');
const WRONG_ORIGIN = refused(403, 'This Origin may not connect. List it in --allowed-origins if it should.');
/** The same answer for a missing and a wrong token, so that it reveals nothing about the token. */
const WRONG_TOKEN = refused(
  401,
  'The connection token is missing or wrong. Send it as Authorization: Bearer or ?token=.',
);

/** The user's settings, from which the policy for requests is built. */
export interface AccessPolicy {
  /** Absent: every program on this machine may connect. */
  readonly token?: string | undefined;
  /**
   * Whether the host generated the token. Such a token does not open the host to other machines: no person there knows
   * it.
   */
  readonly isGenerated?: boolean;
  /** Web pages that may connect, besides the host's own. */
  readonly allowedOrigins?: readonly string[];
  /** Names under which clients may reach this host, besides the usual ones. */
  readonly allowedHosts?: readonly string[];
  /** The user explicitly allowed other machines to connect without encryption. */
  readonly insecureRemote?: boolean;
}

/** Without a token the host accepts every program that reaches the port, so it listens on loopback addresses only. */
export class TokenRequiredError extends Error {
  override readonly name = 'TokenRequiredError';
  constructor(readonly host: string) {
    super(
      `${host} can be reached from other machines, so clients need a token that you choose: ` +
        'give one with --connection-token-file <file>, or stay on this machine with --host localhost',
    );
  }

  /** For callers that check before they open the port. */
  static throwIfNeeded(host: string, { token, isGenerated }: AccessPolicy): void {
    if ((!token || isGenerated) && !isLoopback(host)) throw new TokenRequiredError(host);
  }
}

/**
 * Without TLS everyone on the network path can read the token, so other machines need it unless the user explicitly
 * waived it.
 */
export class EncryptionRequiredError extends Error {
  override readonly name = 'EncryptionRequiredError';
  constructor(readonly host: string) {
    super(
      `${host} can be reached from other machines, and without encryption anyone on the network can read the token: ` +
        'give --tls-cert <file> and --tls-key <file>, stay on this machine with --host localhost, ' +
        'or say --insecure-remote where the network itself is safe',
    );
  }

  /** For callers that check before they open the port. */
  static throwIfNeeded(host: string, policy: AccessPolicy, hasTls: boolean): void {
    if (isInsecure(host, hasTls) && !policy.insecureRemote) throw new EncryptionRequiredError(host);
  }
}

/** Whether other machines can connect without encryption. */
export function isInsecure(host: string, hasTls: boolean): boolean {
  return !hasTls && !isLoopback(host);
}

/** Throws when the policy cannot be used; called before the port is opened. */
export function checkAccess(host: string, policy: AccessPolicy, hasTls = false): void {
  TokenRequiredError.throwIfNeeded(host, policy);
  EncryptionRequiredError.throwIfNeeded(host, policy, hasTls);
  for (const origin of policy.allowedOrigins ?? []) checkedOrigin(origin);
}

/** Whether the host binds to every address of the machine. */
function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '[::]';
}

interface BoundAddresses {
  /** As the user named it. */
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
  /** All addresses of the machine, for a host that binds to a wildcard. */
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
export interface UpgradeFacts
  extends Pick<RequestSource, 'host' | 'scheme' | 'isProxied' | 'isTunnelled' | 'relayedPort'>,
    OfferedFacts {
  readonly origin: readonly string[];
}

/** The tokens of devices and shares. */
export interface Credentials {
  /** Tells this host from others on the same machine. */
  readonly hostId: string;
  /** Undefined for a token that is unknown, expired, removed or malformed. */
  accessOf(token: string): Access | undefined;
}

export interface UpgradePolicy {
  readonly port: number;
  readonly names: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  /** Absent when every program on this machine may connect. */
  readonly token?: TokenDigest | undefined;
  readonly credentials?: Credentials | undefined;
}

export type Verdict =
  | { readonly ok: true; readonly access: Access }
  | { readonly ok: false; readonly status: 401 | 403; readonly reason: string };

export function judgeUpgrade(facts: UpgradeFacts, policy: UpgradePolicy): Verdict {
  const host = ownHost(facts, policy);
  if (host === undefined) return WRONG_HOST;
  const [origin, anotherOrigin] = facts.origin;
  if (anotherOrigin !== undefined) return WRONG_ORIGIN;
  if (origin !== undefined && !isAllowedOrigin(origin, { ...facts, host }, policy)) return WRONG_ORIGIN;
  const isOwn = origin !== undefined && isOwnOrigin(origin, { ...facts, host }, policy.port);
  const access = accessOf(facts, policy, isOwn);
  return access ? { ok: true, access } : WRONG_TOKEN;
}

/**
 * Whether a page of this host sent the request. A browser names the origin of the page in every POST, and no page can
 * change it.
 */
export function isFromOwnPage(
  facts: Pick<UpgradeFacts, 'origin' | 'host' | 'scheme' | 'isProxied' | 'relayedPort'>,
  policy: HostPolicy,
): boolean {
  const host = ownHost(facts, policy);
  const [origin, another] = facts.origin;
  if (host === undefined || origin === undefined || another !== undefined) return false;
  return isOwnOrigin(origin, { ...facts, host }, policy.port);
}

/**
 * What the token of a request allows. A cookie counts only if the request names no token itself and comes from the
 * host's own page, because browsers also send it with requests of other pages.
 */
function accessOf(facts: UpgradeFacts, policy: UpgradePolicy, isOwn: boolean): Access | undefined {
  const named = offeredToken(facts);
  const cookie = isOwn && policy.credentials ? cookieToken(facts, policy.credentials.hostId) : undefined;
  const token = named ?? cookie ?? '';
  // Both are checked in any case, so that every token takes the same time.
  const isOwner = matchesToken(token, policy.token ?? NO_TOKEN) && policy.token !== undefined;
  const access = policy.credentials?.accessOf(token);
  // Strangers come through a tunnel, so they need a token even where programs of this machine do not.
  const isOpen = policy.token === undefined && !facts.isTunnelled;
  if (isOwner || (isOpen && !access)) return OWNER;
  return access;
}

/** No token has this digest; it is what a host without a token compares with. */
const NO_TOKEN = Buffer.alloc(digestOf('').length);

function isOwnOrigin(origin: string, served: Served, port: number): boolean {
  const normal = normalOrigin(origin);
  return normal !== undefined && isOwnPage(normal, served, port);
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

/** The Host header of a request, if there is exactly one and it names this host. */
export function ownHost(
  {
    host,
    isProxied,
    isTunnelled,
    relayedPort,
  }: Pick<RequestSource, 'host' | 'isProxied' | 'isTunnelled' | 'relayedPort'>,
  policy: HostPolicy,
) {
  const [only, another] = host;
  if (isTunnelled || relayedPort !== undefined) return only;
  return only !== undefined && another === undefined && isOwnHost(only, policy, isProxied) ? only : undefined;
}

/**
 * Whether the client used a name of this machine. If so, no slow network lies between, or only one that a tunnel takes
 * care of: requests through a tunnel that people reach by name carry that name.
 */
export function isNamedLocally([host]: RequestSource['host']): boolean {
  const name = parseAuthority(host ?? '')?.name;
  return LOOPBACK_NAMES.some((own) => own === name);
}

/**
 * Whether a request may use this name for the host. A page can point its own name at this machine (DNS rebinding), but
 * it cannot make the browser send another name than the page's. The port may be missing, because a page gains nothing
 * by leaving it out. Behind a proxy the port is the proxy's, and only the name counts.
 */
export function isOwnHost(header: string, policy: HostPolicy, isProxied = false): boolean {
  const authority = parseAuthority(header);
  if (authority === undefined || !policy.names.has(authority.name)) return false;
  return isProxied || authority.port === undefined || authority.port === policy.port;
}

/** `name`, `name:port` or `[address]:port`, and nothing around it. */
function parseAuthority(text: string): Authority | undefined {
  const match = /^(\[[\da-f:.]+\]|[\w-]+(?:\.[\w-]+)*)(?::(\d{1,5}))?$/i.exec(text);
  if (match?.[1] === undefined) return undefined;
  return { name: match[1].toLowerCase(), port: match[2] === undefined ? undefined : Number(match[2]) };
}

/** An address as a Host header or a URL spells it. */
function bracketed(address: string): string {
  return address.includes(':') && !address.startsWith('[') ? `[${address.toLowerCase()}]` : address.toLowerCase();
}

interface OriginPolicy {
  readonly port: number;
  /** In the form of `normalOrigin`. */
  readonly origins: ReadonlySet<string>;
}

/**
 * Whether a web page may connect. A browser lets any page open a WebSocket, and names the page's origin in the request;
 * other programs send no origin and are checked by the token alone. The caller has accepted the Host header already.
 */
function isAllowedOrigin(origin: string, served: Served, policy: OriginPolicy): boolean {
  const normal = normalOrigin(origin);
  if (normal === undefined) return false;
  return policy.origins.has(normal) || isOwnPage(normal, served, policy.port);
}

/** How the client reached this host: the scheme and the Host header. */
interface Served extends Pick<RequestSource, 'scheme' | 'isProxied' | 'relayedPort'> {
  readonly host: string;
}

/**
 * Scheme and authority in lower case; undefined for anything that is not an origin, such as `null`, a path or a
 * trailing dot.
 */
function normalOrigin(text: string): string | undefined {
  const match = /^([a-z][a-z\d+.-]*):\/\/(.+)$/i.exec(text);
  if (match?.[1] === undefined || match[2] === undefined || parseAuthority(match[2]) === undefined) return undefined;
  return text.toLowerCase();
}

/** Whether this server itself served the page: a page on another port of this machine belongs to another program. */
function isOwnPage(origin: string, { host, scheme, isProxied, relayedPort }: Served, port: number): boolean {
  const served = parseAuthority(host)?.port ?? DEFAULT_PORTS[scheme];
  return (isProxied || served === (relayedPort ?? port)) && origin === `${scheme}://${host.toLowerCase()}`;
}
