/** Requests that the host sends to one client, and the answers it waits for. */
import { ErrorCode } from '@atrium/protocol';
import type { Frame } from '@atrium/protocol/validation';
import { RequestError } from '../contracts/request-error.js';
import { FIRST_HOST_REQUEST_ID, HOST_REQUEST_TIMEOUT_MS } from '../limits.js';
import type { Clock } from '../util/clock.js';

type Answer = Extract<Frame, { kind: 'success' | 'failure' }>;

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly cancelTimer: () => void;
}

export class HostRequestQueue {
  readonly #waiting = new Map<number, Waiting>();
  #nextId = FIRST_HOST_REQUEST_ID;

  constructor(
    readonly clock: Clock,
    private readonly post: (message: object) => void,
  ) {}

  send(method: string, params: object, timeoutMs = HOST_REQUEST_TIMEOUT_MS): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const cancelTimer = this.clock.after(timeoutMs, () => {
        this.#waiting.delete(id);
        reject(new RequestError(ErrorCode.InternalError, `the client did not answer ${method} in time`));
      });
      this.#waiting.set(id, { resolve, reject, cancelTimer });
      this.post({ jsonrpc: '2.0', id, method, params });
    });
  }

  /** An answer arrived. One that nobody waits for, or no longer, is dropped. */
  answered(answer: Answer): void {
    const waiting = answer.id === null ? undefined : this.#waiting.get(answer.id);
    if (!waiting || answer.id === null) return;
    this.#waiting.delete(answer.id);
    waiting.cancelTimer();
    if (answer.kind === 'success') waiting.resolve(answer.result);
    else waiting.reject(RequestError.from(answer.error));
  }

  /** The client is gone: nobody will answer. */
  abandon(): void {
    for (const { reject, cancelTimer } of this.#waiting.values()) {
      cancelTimer();
      reject(new RequestError(ErrorCode.InternalError, 'the client disconnected'));
    }
    this.#waiting.clear();
  }
}
