/** Requests that wait for an answer. Each ends once: by its answer, by time, or with the connection. */
import type { Clock } from './clock.js';

interface Waiting<Result> {
  readonly method: string;
  readonly cancelTimeout: () => void;
  settle(outcome: Outcome<Result>): void;
}

export type Outcome<Result> =
  | { readonly ok: true; readonly value: Result }
  | { readonly ok: false; readonly error: Error };

export interface PendingRequestsOptions {
  readonly clock: Clock;
  readonly firstId?: number;
  /** The error of a request without an answer in time. */
  late(method: string, timeoutMs: number): Error;
}

export class PendingRequests {
  readonly #waiting = new Map<number, Waiting<unknown>>();
  readonly #options: PendingRequestsOptions;
  #nextId: number;

  constructor(options: PendingRequestsOptions) {
    this.#options = options;
    this.#nextId = options.firstId ?? 1;
  }

  /** Starts to wait, and returns the id to send the request under. */
  add(method: string, timeoutMs: number, settle: (outcome: Outcome<unknown>) => void): number {
    const id = this.#nextId++;
    const { clock, late } = this.#options;
    const cancelTimeout = clock.after(timeoutMs, () => this.failed(id, late(method, timeoutMs)));
    this.#waiting.set(id, { method, cancelTimeout, settle });
    return id;
  }

  /** The method that was called under this id; undefined when nothing waits for its answer. */
  methodOf(id: number): string | undefined {
    return this.#waiting.get(id)?.method;
  }

  /** False when nothing waits for this answer, or no longer. */
  succeeded(id: number, value: unknown): boolean {
    return this.#settle(id, { ok: true, value });
  }

  /** False when nothing waits for this answer, or no longer. */
  failed(id: number, error: Error): boolean {
    return this.#settle(id, { ok: false, error });
  }

  /** The connection ended: every request fails. */
  abandon(error: (method: string) => Error): void {
    for (const [id, { method }] of [...this.#waiting]) this.failed(id, error(method));
  }

  #settle(id: number, outcome: Outcome<unknown>): boolean {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.cancelTimeout();
    waiting?.settle(outcome);
    return waiting !== undefined;
  }
}
