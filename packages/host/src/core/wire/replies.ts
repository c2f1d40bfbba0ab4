/**
 * What one client is sent: the answers to its requests, and everything else. A subscription starts behind its snapshot, so
 * what follows an answer waits while that is being made.
 */
import { ErrorCode } from '@atrium/protocol';
import { RequestError } from '../contracts/request-error.js';
import type { Lane } from '../contracts/service.js';
import { LogWriteError } from '../log/errors.js';
import type { Logger } from '../util/logger.js';
import type { Dialect } from './dialects/dialects.js';
import { JsonParts } from './json-parts.js';
import type { Outbox } from './outbox.js';
import { type Outgoing, outgoing, outgoingText } from './outgoing.js';

/** For whoever asked for something that could not be stored. */
export const DISK_FULL = "the host's disk is full, so nothing was stored: make room, then try again";

export interface RepliesParts {
  readonly outbox: Outbox;
  readonly logger: Logger;
  /** In whose words errors are told. */
  dialect(): Dialect;
}

export class Replies {
  readonly #parts: RepliesParts;
  /** What must not overtake the answer that is being made. */
  #behindAnswer: Outgoing[] | undefined;
  #isClosed = false;

  constructor(parts: RepliesParts) {
    this.#parts = parts;
  }

  /** Sends messages in one write. The list may be shared between connections. */
  send(messages: readonly Outgoing[]): void {
    if (this.#isClosed) return;
    if (this.#behindAnswer) this.#behindAnswer.push(...messages);
    else this.#parts.outbox.pushAll(messages);
  }

  /** From here on everything waits until the request under way has been answered. */
  hold(): void {
    this.#behindAnswer ??= [];
  }

  /** For a long answer: resolves when it has been sent, or never will be. */
  result(id: number, result: unknown, lane: Lane = 'main'): Promise<void> | undefined {
    const parts = new JsonParts(result, { before: `{"jsonrpc":"2.0","id":${id},"result":`, after: '}' });
    const text = parts.atOnce();
    return this.#give(text === undefined ? parts : outgoingText(text), lane);
  }

  /** Says what went wrong, and gives what was said: what the host alone should know is only in its log. */
  error(id: number, error: unknown, lane: Lane = 'main'): RequestError {
    const known = error instanceof RequestError ? error : diskFull(error);
    if (!known) this.#parts.logger.log('error', 'a request failed', { error: String(error) });
    const shown = known ?? new RequestError(ErrorCode.InternalError, 'the host failed; see its log');
    void this.#give(this.#errorMessage(id, shown), lane);
    return shown;
  }

  /** Answers what never came into the line. What waits for the answer to another request goes on waiting. */
  errorAtOnce(id: number | null, error: RequestError): void {
    this.#parts.outbox.push(this.#errorMessage(id, error));
  }

  /** An answer in the main lane lets go what waited for it; others go out as they come. */
  #give(answer: Outgoing | JsonParts, lane: Lane): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    const { outbox } = this.#parts;
    const behind = lane === 'main' ? (this.#behindAnswer ?? []) : [];
    if (lane === 'main') this.#behindAnswer = undefined;
    if (!(answer instanceof JsonParts)) {
      outbox.pushAll([answer, ...behind]);
      return undefined;
    }
    const sent = outbox.pushParts(answer);
    outbox.pushAll(behind);
    return sent;
  }

  #errorMessage(id: number | null, { code, message, data }: RequestError): Outgoing {
    const error = this.#parts.dialect().encodeError({ code, message, ...(data !== undefined && { data }) });
    return outgoing({ jsonrpc: '2.0', id, error });
  }

  close(): void {
    this.#isClosed = true;
    this.#behindAnswer = undefined;
  }
}

/** The one failure of the host that a person can end. */
function diskFull(error: unknown): RequestError | undefined {
  if (!(error instanceof LogWriteError) || error.reason !== 'disk-full') return undefined;
  return new RequestError(ErrorCode.InternalError, DISK_FULL);
}
