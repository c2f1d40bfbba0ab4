/**
 * A log of every message on every connection, for those who hunt a fault in a client: one file per connection, one JSON
 * object per line. It is off unless asked for. Secrets are blanked, and long texts are cut to what identifies them.
 */
import { createWriteStream, type WriteStream } from 'node:fs';
import type { Clock } from '../core/util/clock.js';
import type { Logger } from '../core/util/logger.js';
import { idIn } from '../core/wire/inbound.js';
import type { MessagePart, Transport } from '../core/wire/transport.js';
import { redacted } from './redact.js';
import { WireFiles } from './wire-files.js';

/** A connection's file ends here, with a line that says so. */
export const WIRE_LOG_MAX_BYTES = 64 * 2 ** 20;

export class WireLog {
  readonly #files: WireFiles;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(options: { readonly folder: string; readonly clock: Clock; readonly logger: Logger }) {
    this.#files = new WireFiles(options.folder, options.clock);
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  /** The same transport, with everything that passes written down. */
  watch(transport: Transport): Transport {
    const file = this.#files.next();
    const lines = new Lines(file, this.#clock, this.#logger);
    lines.write({ event: 'opened', name: transport.name });
    return {
      get name() {
        return transport.name;
      },
      get bufferedBytes() {
        return transport.bufferedBytes;
      },
      start: (events) =>
        transport.start({
          ...events,
          message: (text) => {
            lines.message('in', text);
            events.message(text);
          },
          closed: () => {
            lines.write({ event: 'closed' });
            lines.end();
            this.#files.over(file);
            events.closed();
          },
        }),
      send: (frames) => {
        for (const { text } of frames) lines.message('out', text);
        transport.send(frames);
      },
      ...(transport.sendPart && {
        sendPart: (part) => {
          lines.part(part);
          transport.sendPart?.(part);
        },
      }),
      ...(transport.pause && { pause: () => transport.pause?.() }),
      ...(transport.resume && { resume: () => transport.resume?.() }),
      close: (code, reason) => {
        lines.write({ event: 'closing', code, reason });
        transport.close(code, reason);
      },
    };
  }
}

class Lines {
  readonly #stream: WriteStream;
  #bytes = 0;
  #isOpen = true;
  #parts: { id: number | null; bytes: number } = { id: null, bytes: 0 };

  constructor(
    file: string,
    private readonly clock: Clock,
    logger: Logger,
  ) {
    this.#stream = createWriteStream(file, { flags: 'ax', mode: 0o600 });
    this.#stream.on('error', (error) => {
      this.#isOpen = false;
      logger.log('warn', 'a wire log cannot be written', { file, error: error.message });
    });
  }

  message(direction: 'in' | 'out', text: string): void {
    if (this.#isOpen) this.write({ direction, bytes: Buffer.byteLength(text), ...messageOf(text) });
  }

  /** Of a message that is sent in parts only the size is written down: to blank the secrets in it, it would have to be whole. */
  part({ text, isFirst, isLast }: MessagePart): void {
    if (isFirst && isLast) return this.message('out', text);
    if (isFirst) this.#parts = { id: idIn(text), bytes: 0 };
    this.#parts.bytes += Buffer.byteLength(text);
    if (isLast) this.write({ direction: 'out', bytes: this.#parts.bytes, inParts: true, id: this.#parts.id });
  }

  write(entry: object): void {
    if (!this.#isOpen) return;
    const line = `${JSON.stringify({ time: new Date(this.clock.now()).toISOString(), ...entry })}\n`;
    this.#bytes += Buffer.byteLength(line);
    if (this.#bytes <= WIRE_LOG_MAX_BYTES) return void this.#stream.write(line);
    this.#stream.write(`${JSON.stringify({ event: 'full', limit: WIRE_LOG_MAX_BYTES })}\n`);
    this.end();
  }

  end(): void {
    if (this.#isOpen) this.#stream.end();
    this.#isOpen = false;
  }
}

function messageOf(text: string): object {
  try {
    return { message: redacted(JSON.parse(text)) };
  } catch {
    return { unreadable: true };
  }
}
