/** The requests that wait for an answer: each ends once, by its answer, by time, or with the connection. */
import type { ClientRequestMethod, JsonRpcErrorObject } from '@atrium/protocol';
import { checkClientRequestResult, describeProblem, isClientRequest } from '@atrium/protocol/validation';
import type { CallResult, Outcome } from './calls.js';
import type { Clock } from './clock.js';
import { DisconnectedError, InvalidResultError, RequestError, RequestTimeoutError } from './errors.js';

interface Waiting {
  readonly method: ClientRequestMethod;
  readonly cancelTimeout: () => void;
  settle(outcome: Outcome<unknown>): void;
}

export class PendingCalls {
  readonly #waiting = new Map<number, Waiting>();
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  #nextId = 1;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Starts to wait. Returns the id to send the request under. */
  add<M extends ClientRequestMethod>(method: M, settle: (outcome: Outcome<CallResult<M>>) => void): number {
    const id = this.#nextId++;
    const expire = () => this.#fail(id, new RequestTimeoutError(method, this.#timeoutMs));
    const cancelTimeout = this.#clock.after(this.#timeoutMs, expire);
    this.#waiting.set(id, { method, cancelTimeout, settle: settle as Waiting['settle'] });
    return id;
  }

  /** False when nobody waits for it. */
  succeeded(id: number, result: unknown): boolean {
    const method = this.#waiting.get(id)?.method;
    if (!method) return false;
    // What a host offers beside the protocol has no schema; whoever asks for it looks at the answer.
    const checked = isClientRequest(method)
      ? checkClientRequestResult(method, result)
      : { ok: true as const, value: result };
    if (checked.ok) this.#settle(id, checked);
    else this.#fail(id, new InvalidResultError(method, describeProblem(checked.problem)));
    return true;
  }

  /** False when nobody waits for it. */
  failed(id: number, { code, message, data }: JsonRpcErrorObject): boolean {
    return this.#fail(id, new RequestError(code, message, data));
  }

  /** The connection ended. */
  disconnected(why: string): void {
    for (const [id, { method }] of [...this.#waiting]) this.#fail(id, new DisconnectedError(method, why));
  }

  #fail(id: number, error: Error): boolean {
    return this.#settle(id, { ok: false, error });
  }

  #settle(id: number, outcome: Outcome<unknown>): boolean {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.cancelTimeout();
    waiting?.settle(outcome);
    return waiting !== undefined;
  }
}
