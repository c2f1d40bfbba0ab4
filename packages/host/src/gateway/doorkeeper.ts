/** Lets providers in: by a token that the host issued, or by a code that a person reads to them. */
import { authClaimOf, GatewayErrorCode, type ToGatewayMessageMap } from '@atrium/protocol/provider';
import type { Access } from './access.js';
import { authorizeName } from './authorize.js';
import type { ProviderConnection } from './connection.js';
import { GatewayError, unauthorized } from './gateway-error.js';
import type { Pairings } from './pairing.js';
import type { Room } from './room.js';
import type { ProviderTokens } from './tokens.js';

type DoorMessage = ToGatewayMessageMap['auth'] | ToGatewayMessageMap['auth.confirm'];
/** The token, for later connections, only when it is a new one. */
type LetIn = (access: Access, token?: string) => void;

export class Doorkeeper {
  constructor(
    private readonly tokens: ProviderTokens,
    private readonly pairings: Pairings,
  ) {}

  take(connection: ProviderConnection, message: DoorMessage, letIn: LetIn): void {
    if (message.type === 'auth.confirm') return this.#confirm(connection, message.code, letIn);
    const claim = authClaimOf(message);
    if (claim.by === 'pairing') return this.#pair(connection, claim.name);
    const access = claim.by === 'token' ? this.tokens.accessOf(claim.token) : undefined;
    if (!access) throw new GatewayError(GatewayErrorCode.AuthFailed, 'the token is not valid: pair again');
    // Showing the same token once more is harmless; trust and session of a connection never change.
    if (connection.access && connection.access !== access) throw isInAlready();
    letIn(access);
  }

  #pair(connection: ProviderConnection, name: string | undefined): void {
    if (connection.access) throw isInAlready();
    if (name !== undefined) authorizeName(name);
    const prompt = this.pairings.begin(connection, name);
    connection.enter('AwaitPairing');
    connection.send({ type: 'auth.pairing', prompt });
  }

  #confirm(connection: ProviderConnection, code: string, letIn: LetIn): void {
    const sessionId = this.pairings.confirm(connection, code);
    if (sessionId === undefined)
      throw new GatewayError(GatewayErrorCode.AuthFailed, 'the code is not valid: pair again');
    const token = this.tokens.issueExternal(sessionId);
    const access = this.tokens.accessOf(token);
    if (access) letIn(access, token);
  }

  left(connection: ProviderConnection): void {
    this.pairings.abandon(connection);
  }

  /** The session is not open to providers any more. Only when it ended, what was let into it is let in no more. */
  closed(room: Room, hasEnded: boolean): void {
    if (hasEnded) this.tokens.revokeSession(room.id);
    this.pairings.closed(room);
  }
}

function isInAlready(): GatewayError {
  return unauthorized('you are let in already: connect anew to come in otherwise');
}
