/** What one client sends: checked parameters, the lanes in which messages wait, and answers to the host's requests. */
import { PendingRequests } from '@atrium/link';
import { ErrorCode, ruleForRequest } from '@atrium/protocol/ahp-1';
import { checkClientRequest, describeProblem, isClientRequest } from '@atrium/protocol/ahp-1/validation';
import type { Frame } from '@atrium/protocol/validation';
import { RequestError } from '../contracts/request-error.js';
import type { Lane } from '../sessions/service.js';
import type { Clock } from '../util/clock.js';
import { pluginsOnly } from './dialects/dialects.js';
import {
  CLIENT_FRAME_MAX_BYTES,
  FIRST_HOST_REQUEST_ID,
  HOST_REQUEST_TIMEOUT_MS,
  INBOUND_HELD_MAX_CHARACTERS,
  INBOUND_MAX_CHARACTERS,
  INBOUND_MAX_MESSAGES,
} from './limits.js';

export type Params = Readonly<Record<string, unknown>>;

export function paramsOf(params: unknown): Params {
  return typeof params === 'object' && params !== null && !Array.isArray(params) ? { ...params } : {};
}

/** The parameters of a request, checked against its schema. Throws the error to answer with. */
export function checkedParams(method: string, params: Params): Params {
  if (!isClientRequest(method)) throw new RequestError(ErrorCode.MethodNotFound, `there is no method ${method}`);
  const checked = checkClientRequest(method, method === 'createSession' ? pluginsOnly(params).claim : params);
  if (!checked.ok) throw new RequestError(ErrorCode.InvalidParams, `${method}: ${describeProblem(checked.problem)}`);
  return checked.value;
}

/**
 * Checks the parameters of our own methods, which have no schema, as far as they name channels: access control looks
 * those names up before the handler runs.
 */
export function checkedNames(method: string, params: Params): Params {
  const { bounds } = ruleForRequest(method);
  const wrong = typeof bounds === 'string' ? undefined : bounds.find((name) => !isName(params[name]));
  if (wrong !== undefined) throw new RequestError(ErrorCode.InvalidParams, `${method}: /${wrong} must be a string`);
  return params;
}

function isName(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

/** A character has at most three bytes, so the bytes of most texts need not be counted. */
export function isTooLong(text: string): boolean {
  if (text.length * 3 <= CLIENT_FRAME_MAX_BYTES) return false;
  return text.length > CLIENT_FRAME_MAX_BYTES || Buffer.byteLength(text) > CLIENT_FRAME_MAX_BYTES;
}

/** Finds the id of a request that is too long to parse; clients write it near the start or the end. */
export function idIn(text: string): number | null {
  const ends = `${text.slice(0, 200)} ${text.slice(-200)}`;
  const [, id] = /"id"\s*:\s*(\d{1,15})\b/.exec(ends) ?? [];
  return id === undefined ? null : Number(id);
}

/** Work must not reject: the messages after it would never be served. */
type Work = () => Promise<void>;

/** Queues what a client has sent. Each lane serves its messages one after another, in the order they came. */
export class Lanes {
  #main: Promise<void> = Promise.resolve();
  #aside: Promise<void> = Promise.resolve();
  #waiting = 0;
  #waitingCharacters = 0;
  /** While it is set, no new work begins. */
  #gate: Promise<void> | undefined;
  #openGate: () => void = () => {};

  /** `onTooMany` is called when more waits than one client may send ahead. */
  constructor(private readonly onTooMany: () => void) {}

  /** True when storing is behind and enough is waiting here: further messages have to stay in the socket. */
  get isHeldFull(): boolean {
    return this.#gate !== undefined && this.#waitingCharacters > INBOUND_HELD_MAX_CHARACTERS;
  }

  /** Makes everything that enters from now on wait for `resume`. */
  hold(): void {
    this.#gate ??= new Promise((resolve) => {
      this.#openGate = resolve;
    });
  }

  resume(): void {
    this.#gate = undefined;
    this.#openGate();
  }

  enter(entering: Work, lane: Lane = 'main', characters = 0): void {
    const gate = this.#gate;
    const work = gate ? () => gate.then(entering) : entering;
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

  /** Resolves when all work is done, except the `free` lane, which may wait for a person. */
  async emptied(): Promise<void> {
    await Promise.all([this.#main, this.#aside]);
  }
}

/** Requests that the host sends to one client. */
export class HostRequestQueue {
  readonly #pending: PendingRequests;

  constructor(
    clock: Clock,
    private readonly post: (message: object) => void,
  ) {
    const late = (method: string) =>
      new RequestError(ErrorCode.InternalError, `the client did not answer ${method} in time`);
    this.#pending = new PendingRequests({ clock, firstId: FIRST_HOST_REQUEST_ID, late });
  }

  send(method: string, params: object, timeoutMs = HOST_REQUEST_TIMEOUT_MS): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = this.#pending.add(method, timeoutMs, (outcome) =>
        outcome.ok ? resolve(outcome.value) : reject(outcome.error),
      );
      this.post({ jsonrpc: '2.0', id, method, params });
    });
  }

  /** Takes an answer. If no request waits for it any more, it is dropped. */
  answered(answer: Extract<Frame, { kind: 'success' | 'failure' }>): void {
    if (answer.id === null) return;
    if (answer.kind === 'success') this.#pending.succeeded(answer.id, answer.result);
    else this.#pending.failed(answer.id, RequestError.from(answer.error));
  }

  /** Rejects all open requests, because the client is gone. */
  abandon(): void {
    this.#pending.abandon(() => new RequestError(ErrorCode.InternalError, 'the client disconnected'));
  }
}
