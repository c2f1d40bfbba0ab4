/**
 * `atrium/reach`: the owner opens a way into the host under a public origin, for as long as the requesting connection
 * lasts. So the way closes when the program that opened it dies.
 */
import type { Caller } from '@atrium/core/contracts/ports.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Service } from '@atrium/core/sessions/service.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { ErrorCode, REACH_METHOD } from '@atrium/protocol/ahp-1';
import { TunnelError, type Tunnels } from './server/tunnels.js';

interface ReachParts {
  readonly tunnels: Tunnels;
  readonly logger: Logger;
  /** Whether the port requires a token. */
  asksForToken(): boolean;
}

/**
 * A tunnel on this machine may pass on any Host name, so strangers behind it cannot be told from programs of this
 * machine.
 */
const NO_TOKEN = 'this host requires no token, so anybody could connect. Start it without --without-connection-token';

export class Reach implements Service {
  readonly #open = new Map<Caller, (() => void)[]>();

  constructor(private readonly parts: ReachParts) {}

  readonly extensionRequests = {
    [REACH_METHOD]: (caller: Caller, { origin }: Readonly<Record<string, unknown>>) => {
      if (caller.access.role !== 'owner' || caller.access.bounds || caller.access.until !== undefined)
        throw new RequestError(ErrorCode.PermissionDenied, 'ways into this host are for its owner', { role: 'owner' });
      if (!this.parts.asksForToken()) throw new RequestError(ErrorCode.InvalidRequest, NO_TOKEN);
      if (typeof origin !== 'string') throw new RequestError(ErrorCode.InvalidParams, '/origin must be a text');
      this.#open.set(caller, [...(this.#open.get(caller) ?? []), this.#opened(origin)]);
      this.parts.logger.log('info', 'a way into the host is open', { origin });
      return { origin };
    },
  };

  left(caller: Caller): void {
    const open = this.#open.get(caller) ?? [];
    this.#open.delete(caller);
    for (const close of open) close();
    if (open.length > 0) this.parts.logger.log('info', 'ways into the host are closed', { count: open.length });
  }

  #opened(origin: string): () => void {
    try {
      return this.parts.tunnels.open(origin);
    } catch (error) {
      if (error instanceof TunnelError) throw new RequestError(ErrorCode.InvalidParams, error.message);
      throw error;
    }
  }
}
