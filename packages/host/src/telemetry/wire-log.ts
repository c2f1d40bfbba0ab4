/**
 * A log of every message on every connection, for finding faults in a client: one file per connection, one JSON object
 * per line. It is off by default. It blanks secrets and cuts long texts.
 */
import { createWriteStream, readdirSync, type WriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '@atrium/core/util/clock.js';
import { makeFolderSync } from '@atrium/core/util/folders.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { idIn } from '@atrium/core/wire/inbound.js';
import { type MessagePart, type Transport, textOfPart } from '@atrium/core/wire/transport.js';

/** A connection's file ends at this size, with a line that says so. */
export const WIRE_LOG_MAX_BYTES = 64 * 2 ** 20;
/**
 * How many files of closed connections are kept; the oldest are removed. A client that reconnects creates one each
 * time.
 */
export const WIRE_FILES_MAX = 50;

export class WireLog {
  readonly #files: WireFiles;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(options: { readonly folder: string; readonly clock: Clock; readonly logger: Logger }) {
    this.#files = new WireFiles(options.folder, options.clock);
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  /** The same transport, with every message written to a file. */
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

  /**
   * Of a message that is sent in parts, writes only the size, because blanking its secrets would need the whole
   * message.
   */
  part({ text, bytes, isFirst, isLast }: MessagePart): void {
    if (isFirst && isLast) return this.message('out', textOfPart({ text, bytes }));
    if (isFirst) this.#parts = { id: idIn(text), bytes: 0 };
    this.#parts.bytes += Buffer.byteLength(text) + (bytes?.length ?? 0);
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

/** Other files in the folder stay. Our names begin with the time, so that they sort by age. */
const OURS = /^\d{4}-\d\d-\d\dT[\d.-]+Z-\d+-\d+\.jsonl$/;

/** The files of the wire log: a new one for each connection. */
export class WireFiles {
  /** Files of closed connections, oldest first. */
  readonly #names: string[];
  #connections = 0;

  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
  ) {
    makeFolderSync(folder, { mode: 0o700 });
    this.#names = readdirSync(folder).filter((name) => OURS.test(name));
    this.#names.sort();
  }

  /** The path of a new file, which is kept as long as its connection is open. */
  next(): string {
    const time = new Date(this.clock.now()).toISOString().replaceAll(':', '-');
    return path.join(this.folder, `${time}-${process.pid}-${++this.#connections}.jsonl`);
  }

  /** The connection is closed, so its file may be removed later. */
  over(file: string): void {
    this.#names.push(path.basename(file));
    for (const old of this.#names.splice(0, this.#names.length - WIRE_FILES_MAX)) this.#remove(old);
  }

  /** A file that cannot be removed does no harm; the next run of the host tries again. */
  #remove(name: string): void {
    rm(path.join(this.folder, name), { force: true }).catch(() => {});
  }
}

/** Longer texts are content rather than protocol. */
export const SHOWN_TEXT_MAX_CHARACTERS = 80;
/** How much of a text is searched for secrets. */
const SEARCHED_MAX_CHARACTERS = 2 * 2 ** 10;
const SHOWN_ITEMS_MAX = 50;
const DEPTH_MAX = 12;
/** Members with such a name hold secrets, at any depth. Numbers do not: `inputTokens` is a count. */
const SECRET_NAME =
  /tokens?$|secret|passw|passphrase|_pass$|authorization$|pairing|(?:api|access|private).?key|_key$|cookie|credential/i;
/** Texts that look like secrets anywhere: tokens of GitHub, model servers and the like. */
const SECRET_PATTERNS =
  /\b(?:gh[pousr]_|github_pat_|sk-|xox[a-z]-|AKIA|eyJ)[\w\-.]{12,}|\bBearer\s+\S+|(?<=:\/\/)[^\s/@]+(?=@)|(?<=[?&#][\w-]*(?:token|key|code|secret|password|signature|sig)=)[^\s&#]+/gi;
/** Sessions of earlier versions contain questions with such an id, whose message is a pairing code. */
const PAIRING = /^pair-/;
/** Input and output of a terminal may contain a password, and so may answers and messages of people. */
const TERMINAL = /^terminal\/(?:input|data)$/;
const HIDDEN = '[hidden]';

type Members = Readonly<Record<string, unknown>>;

/** A message without secrets and long texts. */
export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return shortened(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return '…';
  if (Array.isArray(value)) {
    const shown = value.slice(0, SHOWN_ITEMS_MAX).map((item) => redacted(item, depth + 1));
    return value.length > SHOWN_ITEMS_MAX ? [...shown, `… ${value.length} in all`] : shown;
  }
  const members = value as Members;
  return Object.fromEntries(
    Object.entries(members).map(([key, member]) => [
      key,
      isSecret(key, members) ? blanked(member) : redacted(member, depth + 1),
    ]),
  );
}

function isSecret(key: string, members: Members): boolean {
  const { id, type, kind, encoding, commandId, session, fingerprint, keys } = members;
  switch (key) {
    case 'code':
      // Beside a session this is a pairing code, beside a fingerprint it admits a device, and everywhere else it is an
      // error code.
      return session !== undefined || fingerprint !== undefined;
    case 'shortCode':
      return true;
    case 'message':
      return PAIRING.test(String(id));
    case 'data':
      // With an encoding, this is the content of a file.
      return encoding !== undefined || TERMINAL.test(String(type));
    case 'commandLine':
    case 'output':
      return commandId !== undefined;
    case 'value':
      return type === 'unclassified' || kind === 'text';
    case 'freeformValues':
    // With these a browser can be reached, and its messages encrypted.
    case 'auth':
    case 'p256dh':
      return true;
    case 'endpoint':
      return keys !== undefined;
    case 'url':
      // Anyone who has the address of a webhook can post there.
      return kind === 'webhook';
    default:
      return SECRET_NAME.test(key);
  }
}

/** Shows only that there is a secret. */
function blanked(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : HIDDEN;
}

function shortened(text: string): string {
  const open = text.slice(0, SEARCHED_MAX_CHARACTERS).replace(SECRET_PATTERNS, HIDDEN);
  if (text.length <= SHOWN_TEXT_MAX_CHARACTERS) return open;
  return `${open.slice(0, SHOWN_TEXT_MAX_CHARACTERS)}… (${text.length} characters)`;
}
