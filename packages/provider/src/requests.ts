/** What was asked of the gateway and is not answered yet, in the order in which it was asked. */
import type { Clock } from '@atrium/link';
import { type Deferred, deferred } from '@atrium/link';

interface Request<T> extends Deferred<T> {
  readonly id: string;
  /** The type of message it was asked with. */
  readonly type: string;
}

interface RequestOptions<T> {
  readonly id: string;
  readonly type: string;
  readonly timeoutMs: number;
  /** What silence means. */
  overdue(request: Request<T>): void;
}

export class Requests<T> {
  readonly #clock: Clock;
  readonly #open = new Map<string, Request<T> & { readonly stopTimer: () => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add({ id, type, timeoutMs, overdue }: RequestOptions<T>): Promise<T> {
    const request = { id, type, ...deferred<T>() };
    const stopTimer = this.#clock.after(timeoutMs, () => {
      this.#open.delete(id);
      overdue(request);
    });
    this.#open.set(id, { ...request, stopTimer });
    return request.promise;
  }

  resolve(id: string | undefined, value: T): boolean {
    const request = this.#take(id);
    request?.resolve(value);
    return request !== undefined;
  }

  /** Older gateways do not say which request an error is about; then it is the oldest of its type. */
  reject({ id, type }: { readonly id: string | undefined; readonly type: string | undefined }, error: Error): boolean {
    const oldest = [...this.#open.values()].find((request) => request.type === type);
    const request = this.#take(id ?? oldest?.id);
    request?.reject(error);
    return request !== undefined;
  }

  rejectAll(error: Error): void {
    for (const id of [...this.#open.keys()]) this.#take(id)?.reject(error);
  }

  #take(id: string | undefined): Request<T> | undefined {
    const request = id === undefined ? undefined : this.#open.get(id);
    if (!request) return undefined;
    request.stopTimer();
    this.#open.delete(request.id);
    return request;
  }
}
