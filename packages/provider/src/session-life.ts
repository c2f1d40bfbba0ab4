/** What happens in the sessions, told to the author; and the two moments at which the gateway waits for an answer. */

import type { Log } from '@atrium/link';
import type {
  ProviderSessionEntry,
  ProviderSessionEventMessage,
  ProviderSessionLifecycleMessage,
  ToGatewayMessage,
} from '@atrium/protocol/provider';
import { EVENT_HANDLERS, type Handlers } from './handlers.js';

export interface SessionLifeParts {
  readonly on: Handlers;
  readonly log: Log;
  send(message: ToGatewayMessage): void;
  /** The author is done with a session that is about to end. */
  ended(sessionId: string): void;
}

export class SessionLife {
  readonly #parts: SessionLifeParts;
  /** Sessions that a provider bound to all of them has been told of. */
  #known: ReadonlySet<string> = new Set();

  constructor(parts: SessionLifeParts) {
    this.#parts = parts;
  }

  event({ event, data, sessionId }: ProviderSessionEventMessage): void {
    const handler = this.#parts.on[EVENT_HANDLERS[event]] as
      | ((data: unknown, session: { sessionId: string }) => void)
      | undefined;
    void this.#guarded(event, () => handler?.(data, { sessionId }));
  }

  lifecycle(message: ProviderSessionLifecycleMessage): void {
    const { on } = this.#parts;
    const { sessionId } = message;
    if (message.state === 'started') void this.#guarded('started', () => on.started?.({ sessionId }));
    if (message.state === 'idle') void this.#guarded('idle', () => on.idle?.({ sessionId }));
    if (message.state === 'shutdown.pending') void this.#shutdown(sessionId, message.deadline);
  }

  /** Bound to all: `hello` covers those there are, each later one is answered for by itself. */
  greeted(active: readonly ProviderSessionEntry[]): void {
    this.#known = new Set(active.map(({ id }) => id));
  }

  updated(active: readonly ProviderSessionEntry[]): void {
    const news = active.filter(({ id }) => !this.#known.has(id));
    this.greeted(active);
    for (const { id } of news) void this.#prepare(id);
  }

  async #prepare(sessionId: string): Promise<void> {
    const { on, send } = this.#parts;
    const isReady = await this.#guarded('newSession', () => on.newSession?.({ sessionId }));
    if (isReady && this.#known.has(sessionId)) send({ type: 'session.ready', sessionId });
  }

  async #shutdown(sessionId: string, deadlineMs: number): Promise<void> {
    const { on, send, ended } = this.#parts;
    await this.#guarded('shutdown', () => on.shutdown?.({ sessionId, deadlineMs }));
    send({ type: 'shutdown.ready', sessionId });
    ended(sessionId);
  }

  /** Whether the author's part went well. */
  async #guarded(what: string, work: () => unknown): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#parts.log(`the handler of ${what} failed`, error);
      return false;
    }
  }
}
