/**
 * What one client is sent: messages that wait while it reads slowly, and answers that must go out before what follows
 * them.
 */
import { ErrorCode } from '@atrium/protocol/ahp-1';
import { RequestError } from '../contracts/request-error.js';
import { LogWriteError } from '../log/log.js';
import type { Lane } from '../sessions/service.js';
import type { Clock } from '../util/clock.js';
import { JsonParts, PART_CHARACTERS } from '../util/json-parts.js';
import type { Logger } from '../util/logger.js';
import { nextSlice } from '../util/slices.js';
import type { Dialect, DialectView } from './dialects/dialects.js';
import { merged, type Outgoing, outgoing, outgoingText, WireFrame } from './frames.js';
import { OUTBOX_MAX_BYTES, OUTBOX_MAX_MESSAGES, OUTBOX_MERGE_BYTES } from './limits.js';
import { type Transport, textOfPart } from './transport.js';

/** The error for a client whose request could not be stored. */
export const DISK_FULL = "the host's disk is full, so nothing was stored: make room, then try again";

export interface ResponderOptions {
  readonly outbox: Outbox;
  readonly logger: Logger;
  /** The dialect in which errors are written. */
  dialect(): Dialect;
  readonly view: DialectView;
}

/**
 * Answers one client's requests, and sends it everything else in the right order: a subscription starts after its
 * snapshot, so other messages wait while an answer is being made.
 */
export class Responder {
  readonly #options: ResponderOptions;
  /** Messages that must not overtake the answer being made. */
  #behindAnswer: Outgoing[] | undefined;
  #isClosed = false;

  constructor(options: ResponderOptions) {
    this.#options = options;
  }

  /** Sends messages in one write. The list may be shared between connections. */
  send(messages: readonly Outgoing[]): void {
    if (this.#isClosed) return;
    if (this.#behindAnswer) this.#behindAnswer.push(...messages);
    else this.#options.outbox.pushAll(messages);
  }

  /** Holds all messages back until the request under way has been answered. */
  beginAnswer(): void {
    this.#behindAnswer ??= [];
  }

  /** Sends a result. For a long one, returns a promise that resolves when it has been sent, or never will be. */
  result(id: number, result: unknown, lane: Lane = 'main'): Promise<void> | undefined {
    const parts = new JsonParts(result, { before: `{"jsonrpc":"2.0","id":${id},"result":`, after: '}' });
    const text = parts.atOnce();
    return this.#give(text === undefined ? parts : outgoingText(text), lane);
  }

  /**
   * Answers with an error, and returns the error that the client got. Details that only the host should know go to its
   * log.
   */
  error(id: number, error: unknown, lane: Lane = 'main'): RequestError {
    const known = error instanceof RequestError ? error : diskFull(error);
    if (!known) this.#options.logger.log('error', 'a request failed', { error: String(error) });
    const shown = known ?? new RequestError(ErrorCode.InternalError, 'the host failed; see its log');
    void this.#give(this.#errorMessage(id, shown), lane);
    return shown;
  }

  /** Answers a message that never entered the line. Messages held back for another request keep waiting. */
  errorAtOnce(id: number | null, error: RequestError): void {
    this.#options.outbox.push(this.#errorMessage(id, error));
  }

  /** Sends an answer. In the main lane it releases the messages that waited for it; other lanes hold nothing back. */
  #give(answer: Outgoing | JsonParts, lane: Lane): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    const { outbox } = this.#options;
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
    const { dialect, view } = this.#options;
    const error = dialect().encodeError({ code, message, ...(data !== undefined && { data }) }, view);
    return outgoing({ jsonrpc: '2.0', id, error });
  }

  close(): void {
    this.#isClosed = true;
    this.#behindAnswer = undefined;
  }
}

/** Turns a full disk into an error that says so: it is the one failure of the host that a person can fix. */
function diskFull(error: unknown): RequestError | undefined {
  if (!(error instanceof LogWriteError) || error.reason !== 'disk-full') return undefined;
  return new RequestError(ErrorCode.InternalError, DISK_FULL);
}

export interface OutboxOptions {
  readonly transport: Transport;
  /** Times how long text is held back. */
  readonly clock?: Pick<Clock, 'after'> | undefined;
  /** How long the text may have waited before it came here; it is held back only for the rest of its time. */
  readonly waitedMs?: () => number;
  /** Called once, when the client reads too slowly. */
  readonly onTooSlow: () => void;
  /** Called when a message breaks off; the client has only part of it. */
  readonly onBroken?: (error: unknown) => void;
  readonly limits?: { readonly messages: number; readonly bytes: number; readonly mergeBytes: number };
}

const NEVER: Pick<Clock, 'after'> = { after: () => () => {} };
const DEFAULTS = { messages: OUTBOX_MAX_MESSAGES, bytes: OUTBOX_MAX_BYTES, mergeBytes: OUTBOX_MERGE_BYTES };

/**
 * Everything that waits for one client. While the client keeps up, messages go straight out, all of a tick in one
 * write. When it does not, waiting text and output are merged, and above a limit the connection is closed: the client
 * comes back and resumes. A client may ask the host to hold text back briefly, so that it gets fewer messages. A large
 * message is sent in parts, as fast as the client reads, and later messages wait for it. A slow client never slows down
 * a fast one.
 */
export class Outbox {
  readonly #transport: Transport;
  readonly #limits: typeof DEFAULTS;
  readonly #onTooSlow: () => void;
  readonly #onBroken: (error: unknown) => void;
  #waiting: (Outgoing | JsonParts)[] = [];
  #waitingSize = 0;
  /** True while a message is being sent in parts. */
  #isInParts = false;
  #isClosed = false;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #waitedMs: () => number;
  #holdsTextMs = 0;
  /** Cancels the timer of text that is held back. */
  #endHold: (() => void) | undefined;
  /** Continues sending when the transport has room again. */
  #resume: () => void = () => {};
  #whenSent: (() => void)[] = [];
  readonly #whenPartsSent = new Map<JsonParts, () => void>();

  constructor(options: OutboxOptions) {
    const { transport, clock = NEVER, waitedMs = () => 0, onTooSlow, onBroken = () => {}, limits = DEFAULTS } = options;
    this.#transport = transport;
    this.#clock = clock;
    this.#waitedMs = waitedMs;
    this.#onTooSlow = onTooSlow;
    this.#onBroken = onBroken;
    this.#limits = limits;
  }

  get unsentBytes(): number {
    return this.#waitingSize + this.#transport.bufferedBytes;
  }

  push(message: Outgoing): void {
    this.pushAll([message]);
  }

  /** Sends messages in one write, or queues them. The list may be shared between clients, so it is not kept. */
  pushAll(messages: readonly Outgoing[]): void {
    if (this.#isClosed) return;
    const isHeld = this.#holdsTextMs > 0 && messages.every(({ delta }) => delta !== undefined);
    const mayGo = this.#waiting.length === 0 && !this.#isInParts && !this.#isCongested();
    if (mayGo && !isHeld) return this.#transport.send(messages);
    for (const message of messages) this.#wait(message);
    if (isHeld) this.#endHold ??= this.#clock.after(this.#remainingHoldMs(), () => this.flush());
    else this.flush();
    if (this.#isOverLimit()) this.#giveUp();
  }

  #remainingHoldMs(): number {
    return Math.max(0, this.#holdsTextMs - this.#waitedMs());
  }

  /** Queues a message that is sent in parts. Resolves when it is sent, or never will be. */
  pushParts(message: JsonParts): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const sent = new Promise<void>((resolve) => this.#whenPartsSent.set(message, resolve));
    this.#settleLast();
    this.#waiting.push(message);
    this.#waitingSize += PART_CHARACTERS;
    this.flush();
    if (this.#isOverLimit()) this.#giveUp();
    return sent;
  }

  /** Makes text wait this long for more of it. Any other message sends the waiting text first, so the order stays. */
  holdText(milliseconds: number): void {
    this.#holdsTextMs = milliseconds;
    if (milliseconds === 0) this.flush();
  }

  /** Sends what waits, if the transport has room. */
  flush(): void {
    this.#endHold?.();
    this.#endHold = undefined;
    if (this.#isClosed || this.#isCongested()) return;
    if (this.#isInParts) return this.#resume();
    const next = this.#waiting.findIndex((message) => message instanceof JsonParts);
    const messages = (next < 0 ? this.#waiting : this.#waiting.slice(0, next)) as Outgoing[];
    const inParts = this.#waiting[next];
    this.#waiting = next < 0 ? [] : this.#waiting.slice(next + 1);
    this.#waitingSize = this.#waiting.reduce((size, message) => size + sizeOf(message), 0);
    if (messages.length > 0) this.#transport.send(messages);
    if (inParts instanceof JsonParts) void this.#sendParts(inParts);
    else this.#notifySent();
  }

  /** Resolves when everything that waits now has been sent, or never will be. */
  async sent(): Promise<void> {
    while (!this.#isClosed && (this.#isInParts || this.#waiting.length > 0)) {
      await new Promise<void>((resolve) => this.#whenSent.push(resolve));
    }
  }

  /** Drops everything, and sends nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#endHold?.();
    this.#waiting = [];
    this.#waitingSize = 0;
    this.#resume();
    this.#notifySent();
    for (const notify of this.#whenPartsSent.values()) notify();
    this.#whenPartsSent.clear();
  }

  async #sendParts(message: JsonParts): Promise<void> {
    this.#isInParts = true;
    try {
      await this.#eachPart(message);
    } catch (error) {
      if (!this.#isClosed) this.#onBroken(error);
      return;
    }
    this.#isInParts = false;
    this.#whenPartsSent.get(message)?.();
    this.#whenPartsSent.delete(message);
    this.flush();
    this.#notifySent();
  }

  async #eachPart(message: JsonParts): Promise<void> {
    const { sendPart } = this.#transport;
    let whole = '';
    for (let isFirst = true, isLast = false; !isLast; isFirst = false) {
      await this.#room();
      await nextSlice();
      if (this.#isClosed) return;
      const part = await message.next();
      if (this.#isClosed) return;
      ({ isLast } = part);
      if (sendPart) sendPart.call(this.#transport, { ...part, isFirst });
      else whole += textOfPart(part);
    }
    if (!sendPart) this.#transport.send([new WireFrame(whole)]);
  }

  async #room(): Promise<void> {
    while (!this.#isClosed && this.#isCongested()) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve;
      });
    }
  }

  #notifySent(): void {
    const waiting = this.#whenSent;
    this.#whenSent = [];
    for (const notify of waiting) notify();
  }

  #wait(given: Outgoing): void {
    const message = given.waiting();
    const last = this.#waiting.at(-1);
    const joined = last instanceof JsonParts || !last ? undefined : merged(last, message);
    if (last && joined) this.#waitingSize -= sizeOf(last);
    if (joined) this.#waiting.pop();
    else this.#settleLast();
    this.#waiting.push(joined ?? message);
    this.#waitingSize += (joined ?? message).size;
  }

  /** Marks the last message as final: nothing can be merged with it any more. */
  #settleLast(): void {
    const last = this.#waiting.at(-1);
    if (last && !(last instanceof JsonParts)) this.#waiting[this.#waiting.length - 1] = last.settled();
  }

  #isCongested(): boolean {
    return this.#transport.bufferedBytes > this.#limits.mergeBytes;
  }

  #isOverLimit(): boolean {
    return this.#waiting.length > this.#limits.messages || this.#waitingSize > this.#limits.bytes;
  }

  #giveUp(): void {
    this.close();
    this.#onTooSlow();
  }
}

/** Size in memory; of a message in parts, only one part is in memory at a time. */
function sizeOf(message: Outgoing | JsonParts): number {
  return message instanceof JsonParts ? PART_CHARACTERS : message.size;
}
