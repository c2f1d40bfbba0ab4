/**
 * Decides who may connect: the checks at start (an open host needs a token), and for each request the Host header, the
 * Origin and the token, in this order, from the facts of the request alone.
 */
import { type Access, OWNER } from '@atrium/core/contracts/access.js';
import { isLoopback } from '@atrium/core/util/addresses.js';
import { digestOf, matchesToken, type TokenDigest } from '@atrium/core/util/secrets.js';
import type { RequestSource } from './forwarded.js';
import { cookieToken, type OfferedFacts, offeredToken } from './offered-token.js';

/** The names of the machine itself, as they stand in a Host header. The last two are one address. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'] as const;
const DEFAULT_PORTS = { http: 80, https: 443 } as const;
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
  /** The user said by name that other machines may connect without encryption. */
  readonly insecureRemote?: boolean;
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

/** Without TLS everybody on the way reads the token, so other machines connect so only where the user says it by name. */
export class EncryptionRequiredError extends Error {
  override readonly name = 'EncryptionRequiredError';
  constructor(readonly host: string) {
    super(
      `${host} can be reached from other machines, and without encryption everybody on the way can read the token: ` +
        'give --tls-cert <file> and --tls-key <file>, stay on this machine with --host localhost, ' +
        'or say --insecure-remote where the network itself is safe',
    );
  }

  /** For callers that check before they open anything. */
  static throwIfNeeded(host: string, policy: AccessPolicy, hasTls: boolean): void {
    if (isInsecure(host, hasTls) && !policy.insecureRemote) throw new EncryptionRequiredError(host);
  }
}

/** Whether other machines can connect without encryption. */
export function isInsecure(host: string, hasTls: boolean): boolean {
  return !hasTls && !isLoopback(host);
}

/** Throws when the policy cannot be used; called before a port is opened. */
export function checkAccess(host: string, policy: AccessPolicy, hasTls = false): void {
  TokenRequiredError.throwIfNeeded(host, policy);
  EncryptionRequiredError.throwIfNeeded(host, policy, hasTls);
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
export interface UpgradeFacts
  extends Pick<RequestSource, 'host' | 'scheme' | 'isProxied' | 'isTunnelled' | 'relayedPort'>,
    OfferedFacts {
  readonly origin: readonly string[];
}

/** The tokens of devices and shares. */
export interface Credentials {
  /** Names this host among others on one machine. */
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

/** Whether a page of this very host sent the request: a browser names its origin in every POST, and no page can choose it. */
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
 * What the token of a request allows. A cookie counts only in requests of the host's own page, because browsers send it with
 * requests of others, too; and only when the request names no token itself.
 */
function accessOf(facts: UpgradeFacts, policy: UpgradePolicy, isOwn: boolean): Access | undefined {
  const named = offeredToken(facts);
  const cookie = isOwn && policy.credentials ? cookieToken(facts, policy.credentials.hostId) : undefined;
  const token = named ?? cookie ?? '';
  // Both are asked in any case, so that every token takes the same time.
  const isOwner = matchesToken(token, policy.token ?? NO_TOKEN) && policy.token !== undefined;
  const access = policy.credentials?.accessOf(token);
  // Through a tunnel come strangers, whatever the programs of this machine may do.
  const isOpen = policy.token === undefined && !facts.isTunnelled;
  if (isOwner || (isOpen && !access)) return OWNER;
  return access;
}

/** Of no token: to compare with where the host has none. */
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

/** The one Host header of a request, when it names this host. */
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
 * Whether a client uses a name of the machine itself. Then no slow line is between, or one that is a tunnel's own matter: what
 * comes through a tunnel that people reach by a name has that name.
 */
export function isNamedLocally([host]: RequestSource['host']): boolean {
  const name = parseAuthority(host ?? '')?.name;
  return LOOPBACK_NAMES.some((own) => own === name);
}

/**
 * Which names a request may use for this host. A page can make its own name point at this machine (DNS rebinding), but
 * it cannot make the browser send another name than the page's. The port may be missing: a page gains nothing by
 * leaving it out. Behind a proxy it is the proxy's, and only the name counts.
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
function isAllowedOrigin(origin: string, served: Served, policy: OriginPolicy): boolean {
  const normal = normalOrigin(origin);
  if (normal === undefined) return false;
  return policy.origins.has(normal) || isOwnPage(normal, served, policy.port);
}

/** How the client reached this host: by which scheme and under which Host header. */
interface Served extends Pick<RequestSource, 'scheme' | 'isProxied' | 'relayedPort'> {
  readonly host: string;
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
function isOwnPage(origin: string, { host, scheme, isProxied, relayedPort }: Served, port: number): boolean {
  const served = parseAuthority(host)?.port ?? DEFAULT_PORTS[scheme];
  return (isProxied || served === (relayedPort ?? port)) && origin === `${scheme}://${host.toLowerCase()}`;
}
