/**
 * A pair of byte streams as a transport, one JSON message per line. For a host that is a child process of its only
 * client, over standard input and output.
 */
import type { Readable, Writable } from 'node:stream';
import { type Logger, silentLogger } from '../../util/logger.js';
import { LineSplitter } from '../../util/streams.js';
import type { WireFrame } from '../frames.js';
import { PAYLOAD_MAX_BYTES } from '../limits.js';
import { CloseCode, type MessagePart, type Transport, type TransportEvents, textOfPart } from '../transport.js';

export interface StdioTransportOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly logger?: Logger;
  /** The longest line that is read; a longer one closes the transport. */
  readonly maxLineBytes?: number;
}

export function stdioTransport(options: StdioTransportOptions): Transport {
  return new StdioTransport(options);
}

class StdioTransport implements Transport {
  readonly name = 'stdio';
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #logger: Logger;
  readonly #lines: LineSplitter;
  #events: TransportEvents | undefined;
  #open = true;
  #waitsForDrain = false;

  constructor({ input, output, logger = silentLogger, maxLineBytes = PAYLOAD_MAX_BYTES }: StdioTransportOptions) {
    this.#input = input;
    this.#output = output;
    this.#logger = logger;
    this.#lines = new LineSplitter(maxLineBytes);
  }

  get bufferedBytes(): number {
    return this.#output.writableLength;
  }

  start(events: TransportEvents): void {
    this.#events = events;
    const ended = () => this.#finish();
    this.#output.on('error', ended).on('close', ended);
    this.#input.on('error', ended).on('end', () => (events.ended ?? ended)());
    this.#input.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  send(frames: readonly WireFrame[]): void {
    if (!this.#open || frames.length === 0) return;
    this.#output.write(frames.map((frame) => `${frame.text}\n`).join(''), this.#written);
    this.#waitsForDrain = this.bufferedBytes > 0;
  }

  sendPart(part: MessagePart): void {
    if (!this.#open) return;
    const text = textOfPart(part);
    this.#output.write(part.isLast ? `${text}\n` : text, this.#written);
    this.#waitsForDrain = this.bufferedBytes > 0;
  }

  /** Stops reading; what was already read is still delivered. */
  pause(): void {
    if (this.#open) this.#input.pause();
  }

  resume(): void {
    if (this.#open) this.#input.resume();
  }

  /** Closes the streams after writing what was sent. They cannot carry the code, so it goes to the log. */
  close(code: number, reason: string): void {
    if (!this.#open) return;
    this.#logger.log(code === CloseCode.Normal ? 'debug' : 'info', 'closing stdio', { code, reason });
    this.#finish();
  }

  readonly #written = (): void => {
    if (!this.#waitsForDrain || this.bufferedBytes > 0) return;
    this.#waitsForDrain = false;
    this.#events?.drain();
  };

  #read(chunk: Buffer): void {
    try {
      for (const line of this.#lines.push(chunk)) {
        if (this.#open) this.#events?.message(line);
      }
    } catch (error) {
      this.close(CloseCode.TooBig, error instanceof Error ? error.message : String(error));
    }
  }

  #finish(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#input.removeAllListeners('data').pause();
    this.#output.end();
    queueMicrotask(() => this.#events?.closed());
  }
}
