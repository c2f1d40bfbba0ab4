/**
 * Authenticates providers: by a token that the host gave to a process it started, or by a pairing code that a person
 * types into the provider. `Access` is the outcome: how far the host trusts the connection, and which session it may
 * enter.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { digestOf } from '@atrium/core/util/secrets.js';
import {
  authClaimOf,
  CONNECTIONS_MAX,
  GatewayErrorCode,
  type ToGatewayMessageMap,
  type TrustLevel,
} from '@atrium/protocol/provider';
import { authorizeName } from './authorize.js';
import { GatewayError, unauthorized } from './gateway-errors.js';
import type { GatewaySession } from './gateway-session.js';
import type { Pairings } from './pairing.js';
import type { ProviderConnection } from './provider-connection.js';

export interface Access {
  readonly trust: TrustLevel;
  /** The one session that the provider may enter; undefined for all sessions. */
  readonly sessionId: string | undefined;
  /** The token that the provider used. A token serves one provider name, which the first `hello` fixes. */
  readonly token: AccessToken | undefined;
}

interface AccessToken {
  /** Identifies this pairing or process; not a secret. */
  readonly id: string;
  name: string | undefined;
}

export const INTERNAL_ACCESS: Access = { trust: 'internal', sessionId: undefined, token: undefined };

/** One pairing may serve several instances, but must not use up the connections of all other providers. */
export const CONNECTIONS_PER_PAIRING_MAX = CONNECTIONS_MAX / 2;

type AuthMessage = ToGatewayMessageMap['auth'] | ToGatewayMessageMap['auth.confirm'];
/** Only a new pairing has a `token`, for later connections. */
type Admit = (access: Access, token?: string) => void;

export class ProviderAuth {
  constructor(
    private readonly tokens: ProviderTokens,
    private readonly pairings: Pairings,
  ) {}

  take(connection: ProviderConnection, message: AuthMessage, admit: Admit): void {
    if (message.type === 'auth.confirm') return this.#confirm(connection, message.code, admit);
    const claim = authClaimOf(message);
    if (claim.by === 'pairing') return this.#pair(connection, claim.name);
    const access = claim.by === 'token' ? this.tokens.accessOf(claim.token) : undefined;
    if (!access) throw new GatewayError(GatewayErrorCode.AuthFailed, 'the token is not valid: pair again');
    // Showing the same token again is harmless; the trust and session of a connection never change.
    if (connection.access && connection.access !== access) throw alreadyAuthenticated();
    admit(access);
  }

  #pair(connection: ProviderConnection, name: string | undefined): void {
    if (connection.access) throw alreadyAuthenticated();
    if (name !== undefined) authorizeName(name);
    const prompt = this.pairings.begin(connection, name);
    connection.enter('AwaitPairing');
    connection.send({ type: 'auth.pairing', prompt });
  }

  #confirm(connection: ProviderConnection, code: string, admit: Admit): void {
    const sessionId = this.pairings.confirm(connection, code);
    if (sessionId === undefined)
      throw new GatewayError(GatewayErrorCode.AuthFailed, 'the code is not valid: pair again');
    const token = this.tokens.issueExternal(sessionId);
    const access = this.tokens.accessOf(token);
    if (access) admit(access, token);
  }

  left(connection: ProviderConnection): void {
    this.pairings.abandon(connection);
  }

  /**
   * A session is no longer open to providers. Tokens are revoked only if it ended, because an unloaded one may come
   * back.
   */
  closed(session: GatewaySession, hasEnded: boolean): void {
    if (hasEnded) this.tokens.revokeSession(session.id);
    this.pairings.closed(session);
  }
}

function alreadyAuthenticated(): GatewayError {
  return unauthorized('already authenticated: open a new connection to use another token');
}

const TOKEN_BYTES = 32;

/** The tokens of providers: one for each spawned process, one for each pairing. Kept only in memory, as digests. */
export class ProviderTokens {
  readonly #accesses = new Map<string, Access>();

  /** Issues a token for a process that the gateway starts in a session. */
  issueProject(sessionId: string): string {
    return this.#issue('ptk-', { trust: 'project', sessionId, token: newToken() });
  }

  /** Issues a token for a provider that a person paired with a session. */
  issueExternal(sessionId: string): string {
    return this.#issue('ext-tok-', { trust: 'external', sessionId, token: newToken() });
  }

  /** Looks a token up by its digest, so that the time reveals nothing about the token. */
  accessOf(token: string): Access | undefined {
    return this.#accesses.get(keyOf(token));
  }

  revoke(token: string): void {
    this.#accesses.delete(keyOf(token));
  }

  revokeSession(sessionId: string): void {
    for (const [key, access] of this.#accesses) if (access.sessionId === sessionId) this.#accesses.delete(key);
  }

  #issue(prefix: string, access: Access): string {
    const token = prefix + randomBytes(TOKEN_BYTES).toString('hex');
    this.#accesses.set(keyOf(token), access);
    return token;
  }
}

function newToken(): AccessToken {
  return { id: randomUUID(), name: undefined };
}

function keyOf(token: string): string {
  return digestOf(token).toString('hex');
}

/** Throws when a pairing already has too many connections. */
export function checkConnectionCount(
  access: Access,
  connections: Iterable<{ readonly access: Access | undefined }>,
): void {
  const others = [...connections].filter((other) => other.access === access).length;
  if (access.trust !== 'external' || others < CONNECTIONS_PER_PAIRING_MAX) return;
  const what = `at most ${CONNECTIONS_PER_PAIRING_MAX} connections of one pairing: close another one first`;
  throw new GatewayError(GatewayErrorCode.RateLimited, what);
}

export function isOpenTo({ sessionId }: Access, session: GatewaySession): boolean {
  return sessionId === undefined || sessionId === session.id;
}

/** The sessions that a connection hears of; those it may enter come first. */
export function listFor(access: Access, sessions: readonly GatewaySession[]): GatewaySession[] {
  const own = sessions.filter((session) => isOpenTo(access, session));
  if (access.trust === 'project') return own;
  return [...own, ...sessions.filter((session) => !own.includes(session))];
}
