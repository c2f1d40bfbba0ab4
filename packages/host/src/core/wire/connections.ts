/** All connections, and which client each belongs to. A client id has one connection: a newer one replaces the older. */
import { CLIENT_GRACE_MS } from '../limits.js';
import type { Clock } from '../util/clock.js';
import type { Connection } from './connection.js';
import type { Identity } from './handshake.js';
import { CloseCode } from './transport.js';

export interface RegistryOptions {
  readonly clock: Clock;
  /** A connection has closed. */
  readonly left: (connection: Connection) => void;
  /** A client has no connection any more. */
  readonly lost: (clientId: string) => void;
  /** A client has not come back within its grace period. */
  readonly gone: (clientId: string) => void;
}

export class ConnectionRegistry {
  readonly #options: RegistryOptions;
  readonly #all = new Set<Connection>();
  readonly #byClient = new Map<string, Connection>();
  readonly #graces = new Map<string, () => void>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  add(connection: Connection): void {
    this.#all.add(connection);
  }

  all(): Iterable<Connection> {
    return this.#all;
  }

  of(clientId: string): Connection | undefined {
    return this.#byClient.get(clientId);
  }

  isConnected(clientId: string): boolean {
    return this.#byClient.has(clientId);
  }

  arrived(connection: Connection, { clientId }: Identity): void {
    const older = this.#byClient.get(clientId);
    this.#byClient.set(clientId, connection);
    this.#graces.get(clientId)?.();
    this.#graces.delete(clientId);
    older?.close(CloseCode.Replaced, 'this client id has connected again');
  }

  left(connection: Connection, identity: Identity | undefined): void {
    this.#all.delete(connection);
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

  /** The host stops: no grace period ends any more. */
  stop(): void {
    for (const cancel of this.#graces.values()) cancel();
    this.#graces.clear();
  }
}
