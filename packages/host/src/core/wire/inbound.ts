/** What a client sent, made fit for handlers: parameters as an object, checked, or an error that says what is wrong. */

import { ErrorCode } from '@atrium/protocol';
import { checkClientRequest, describeProblem, type Frame, isClientRequest } from '@atrium/protocol/validation';
import { RequestError } from '../contracts/request-error.js';
import type { Lane } from '../contracts/service.js';
import {
  FIRST_HOST_REQUEST_ID,
  FRAME_MAX_BYTES,
  HOST_REQUEST_TIMEOUT_MS,
  INBOUND_MAX_CHARACTERS,
  INBOUND_MAX_MESSAGES,
} from '../limits.js';
import type { Clock } from '../util/clock.js';
import { pluginsOnly } from './dispatch.js';

export type Params = Readonly<Record<string, unknown>>;

export function paramsOf(params: unknown): Params {
  return typeof params === 'object' && params !== null && !Array.isArray(params) ? { ...params } : {};
}

/** The parameters of a request, as its schema wants them. Throws the error to answer with. */
export function checkedParams(method: string, params: Params): Params {
  if (!isClientRequest(method)) throw new RequestError(ErrorCode.MethodNotFound, `there is no method ${method}`);
  const checked = checkClientRequest(method, method === 'createSession' ? pluginsOnly(params).claim : params);
  if (!checked.ok) throw new RequestError(ErrorCode.InvalidParams, `${method}: ${describeProblem(checked.problem)}`);
  return checked.value;
}

/** A character is at most three bytes, so that most texts need not be counted. */
export function isTooLong(text: string): boolean {
  if (text.length * 3 <= FRAME_MAX_BYTES) return false;
  return text.length > FRAME_MAX_BYTES || Buffer.byteLength(text) > FRAME_MAX_BYTES;
}

/** The id of a request that is too long to be read whole; it stands at one of the ends of what clients write. */
export function idIn(text: string): number | null {
  const ends = `${text.slice(0, 200)} ${text.slice(-200)}`;
  const [, id] = /"id"\s*:\s*(\d{1,15})\b/.exec(ends) ?? [];
  return id === undefined ? null : Number(id);
}

/** Where what a client has sent waits for its turn: one after the other in the order it came, lane by lane. */

/** Nothing that waits may fail: whoever waits behind it would never have its turn. */
type Work = () => Promise<void>;

export class Lanes {
  #main: Promise<void> = Promise.resolve();
  #aside: Promise<void> = Promise.resolve();
  #waiting = 0;
  #waitingCharacters = 0;

  /** `onTooMany` is called when more waits than anybody may let wait. */
  constructor(private readonly onTooMany: () => void) {}

  enter(work: Work, lane: Lane = 'main', characters = 0): void {
    this.#waiting++;
    this.#waitingCharacters += characters;
    const isTooMany = this.#waiting > INBOUND_MAX_MESSAGES || this.#waitingCharacters > INBOUND_MAX_CHARACTERS;
    if (isTooMany) return this.onTooMany();
    const done = () => {
      this.#waiting--;
      this.#waitingCharacters -= characters;
    };
    if (lane === 'main') this.#main = this.#main.then(work).finally(done);
    else if (lane === 'aside') this.#aside = this.#aside.then(work).finally(done);
    else void work().finally(done);
  }

  /** When all is done that is not waiting for a person. */
  async emptied(): Promise<void> {
    await Promise.all([this.#main, this.#aside]);
  }
}

/** Requests that the host sends to one client, and the answers it waits for. */

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
