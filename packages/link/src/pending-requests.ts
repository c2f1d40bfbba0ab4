/** Requests that wait for an answer. Each ends once: by its answer, by time, or with the connection. */
import type { Clock } from './clock.js';

export type Outcome<Result> =
  | { readonly ok: true; readonly value: Result }
  | { readonly ok: false; readonly error: Error };

interface Waiting<Result> {
  readonly method: string;
  readonly cancelTimeout: () => void;
  settle(outcome: Outcome<Result>): void;
}

export interface PendingByIdOptions {
  readonly clock: Clock;
  /** The error of a request without an answer in time. */
  late(method: string, timeoutMs: number): Error;
}

/** Pending requests under ids that the caller chooses. */
export class PendingById<Id extends string | number, Result> {
  readonly #waiting = new Map<Id, Waiting<Result>>();
  readonly #options: PendingByIdOptions;

  constructor(options: PendingByIdOptions) {
    this.#options = options;
  }

  /** Starts to wait for the answer to a request. */
  wait(
    { id, method, timeoutMs }: { readonly id: Id; readonly method: string; readonly timeoutMs: number },
    settle: (outcome: Outcome<Result>) => void,
  ): void {
    const { clock, late } = this.#options;
    const cancelTimeout = clock.after(timeoutMs, () => this.failed(id, late(method, timeoutMs)));
    this.#waiting.set(id, { method, cancelTimeout, settle });
  }

  /** The method that was called under this id; undefined when nothing waits for its answer. */
  methodOf(id: Id): string | undefined {
    return this.#waiting.get(id)?.method;
  }

  /** The id of the request of this method that waits longest. */
  oldest(method: string): Id | undefined {
    return [...this.#waiting].find(([, waiting]) => waiting.method === method)?.[0];
  }

  /** False when nothing waits for this answer, or no longer. */
  succeeded(id: Id, value: Result): boolean {
    return this.#settle(id, { ok: true, value });
  }

  /** False when nothing waits for this answer, or no longer. */
  failed(id: Id, error: Error): boolean {
    return this.#settle(id, { ok: false, error });
  }

  /** The connection ended: every request fails. */
  abandon(error: (method: string) => Error): void {
    for (const [id, { method }] of [...this.#waiting]) this.failed(id, error(method));
  }

  #settle(id: Id, outcome: Outcome<Result>): boolean {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.cancelTimeout();
    waiting?.settle(outcome);
    return waiting !== undefined;
  }
}

export interface PendingRequestsOptions extends PendingByIdOptions {
  readonly firstId?: number;
}

/** Pending requests that are numbered here, as in JSON-RPC. */
export class PendingRequests extends PendingById<number, unknown> {
  #nextId: number;

  constructor(options: PendingRequestsOptions) {
    super(options);
    this.#nextId = options.firstId ?? 1;
  }

  /** Starts to wait, and returns the id to send the request under. */
  add(method: string, timeoutMs: number, settle: (outcome: Outcome<unknown>) => void): number {
    const id = this.#nextId++;
    this.wait({ id, method, timeoutMs }, settle);
    return id;
  }
}
