/** All connections, and which client each belongs to. A client id has one connection: a newer one replaces the older. */
import { ErrorCode, type HostRequestMethod, type HostRequests } from '@atrium/protocol/ahp-1';
import type { Access } from '../contracts/access.js';
import { RequestError } from '../contracts/request-error.js';
import { CLIENT_GRACE_MS } from '../sessions/limits.js';
import type { Clock } from '../util/clock.js';
import type { Connection } from './connection.js';
import type { Identity } from './handshake.js';
import { CloseCode } from './transport.js';

export interface RegistryOptions {
  readonly clock: Clock;
  /** Called when a connection has closed. */
  readonly left: (connection: Connection) => void;
  /** Called when a client has no connection any more. */
  readonly lost: (clientId: string) => void;
  /** Called when a client has not come back within its grace period. */
  readonly gone: (clientId: string) => void;
}

export class ConnectionRegistry {
  readonly #options: RegistryOptions;
  readonly #all = new Set<Connection>();
  readonly #byClient = new Map<string, Connection>();
  /** Connections whose dialect has no subscription to the list of sessions: the host notifies them without one. */
  readonly #unsubscribedAudience = new Set<Connection>();
  /** Methods that a client answered it does not know. The host does not use them again on this connection. */
  readonly #lacking = new WeakMap<Connection, Set<string>>();
  readonly #graces = new Map<string, () => void>();
  #isReadingPaused = false;

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  add(connection: Connection): void {
    this.#all.add(connection);
  }

  all(): Iterable<Connection> {
    return this.#all;
  }

  /** The connections opened with a credential, also those before their handshake. */
  withCredential(id: string): Connection[] {
    return [...this.#all].filter(({ access }) => access.credential.id === id);
  }

  /**
   * Applies a new access to all open connections of a credential. Without an access, the credential is gone, and they
   * close.
   */
  changeAccess(credentialId: string, access: Access | undefined): void {
    for (const connection of this.withCredential(credentialId)) {
      if (access) connection.changeAccess(access);
      else connection.close(CloseCode.AccessEnded, 'this access was removed');
    }
  }

  /**
   * Pauses reading from all clients while storing is behind. Clients that connect meanwhile may still do their
   * handshake.
   */
  pauseReading(): void {
    this.#isReadingPaused = true;
    for (const connection of this.#all) if (connection.identity) connection.pauseReading();
  }

  resumeReading(): void {
    this.#isReadingPaused = false;
    for (const connection of this.#all) connection.resumeReading();
  }

  unsubscribedAudience(): Iterable<Connection> {
    return this.#unsubscribedAudience;
  }

  of(clientId: string): Connection | undefined {
    return this.#byClient.get(clientId);
  }

  isConnected(clientId: string): boolean {
    return this.#byClient.has(clientId);
  }

  /** True when the client is connected, speaks a version with this method, and has not answered that it lacks it. */
  canAsk(clientId: string, method: HostRequestMethod): boolean {
    const connection = this.of(clientId);
    return connection?.dialect.canSend(method) === true && !this.#lacking.get(connection)?.has(method);
  }

  /** Sends a request to a client; see `Connection.request`. */
  async ask<M extends HostRequestMethod>(
    clientId: string,
    method: M,
    params: HostRequests[M]['params'],
    timeoutMs?: number,
  ): Promise<HostRequests[M]['result']> {
    const connection = this.of(clientId);
    if (!connection) throw new Error(`the client ${clientId} is not connected`);
    try {
      return await connection.request(method, params, timeoutMs);
    } catch (error) {
      if (error instanceof RequestError && error.code === ErrorCode.MethodNotFound) this.#remember(connection, method);
      throw error;
    }
  }

  #remember(connection: Connection, method: string): void {
    this.#lacking.set(connection, (this.#lacking.get(connection) ?? new Set()).add(method));
  }

  arrived(connection: Connection, { clientId, dialect }: Identity): void {
    if (dialect.traits.notifiesEveryone) this.#unsubscribedAudience.add(connection);
    if (this.#isReadingPaused) connection.pauseReading();
    const older = this.#byClient.get(clientId);
    this.#byClient.set(clientId, connection);
    this.#graces.get(clientId)?.();
    this.#graces.delete(clientId);
    older?.close(CloseCode.Replaced, 'this client id has connected again');
  }

  left(connection: Connection, identity: Identity | undefined): void {
    this.#all.delete(connection);
    this.#unsubscribedAudience.delete(connection);
    this.#options.left(connection);
    if (!identity || this.#byClient.get(identity.clientId) !== connection) return;
    const { clientId } = identity;
    this.#byClient.delete(clientId);
    this.#options.lost(clientId);
    const cancel = this.#options.clock.after(CLIENT_GRACE_MS, () => {
      this.#graces.delete(clientId);
      this.#options.gone(clientId);
    });
    this.#graces.set(clientId, cancel);
  }

  /** Cancels all grace periods, because the host stops. */
  stop(): void {
    for (const cancel of this.#graces.values()) cancel();
    this.#graces.clear();
  }
}
