/** Reads a stream of server-sent events, in bounded memory. */
import { StringDecoder } from 'node:string_decoder';
import { AgentError } from '@atrium/core/contracts/agent.js';
import { sizeText } from '@atrium/core/util/text.js';

/**
 * Largest event of a stream; an event is kept until it is complete. Some servers repeat the whole answer in the last
 * one.
 */
export const ANSWER_EVENT_MAX_BYTES = 16 * 2 ** 20;
/** Largest stream. Each event carries about one word in many more bytes. */
const ANSWER_MAX_BYTES = 128 * 2 ** 20;

export interface StreamLimits {
  /** Limit for one event of a stream, and for an answer that is not a stream. */
  readonly eventMaxBytes: number;
  /** Limit for a whole stream. */
  readonly totalMaxBytes: number;
}

export const LIMITS: StreamLimits = { eventMaxBytes: ANSWER_EVENT_MAX_BYTES, totalMaxBytes: ANSWER_MAX_BYTES };

/** Takes the data of an event; false when no more is wanted. */
type TakeData = (data: string) => boolean;

export class EventReader {
  readonly #limits: StreamLimits;
  readonly #totalMaxBytes: number;
  readonly #decoder = new StringDecoder('utf8');
  #total = 0;
  /** Pieces of the incomplete line. */
  #line: string[] = [];
  /** Characters in the incomplete event. */
  #size = 0;
  #data: string[] = [];
  #endsInReturn = false;
  #hasBegun = false;

  /** A response that does not claim to be a stream may be only as long as one event. */
  constructor(kind: 'stream' | 'text', limits = LIMITS) {
    this.#limits = limits;
    this.#totalMaxBytes = kind === 'stream' ? limits.totalMaxBytes : limits.eventMaxBytes;
  }

  /** Counts bytes that are read but not parsed as events. */
  measure(chunk: Buffer): void {
    this.#total += chunk.length;
    if (this.#total > this.#totalMaxBytes) throw tooLong('its answer', this.#totalMaxBytes);
  }

  /** Passes on the events that this chunk completes; false when no more are wanted. */
  push(chunk: Buffer, take: TakeData): boolean {
    this.measure(chunk);
    const text = this.#withPlainBreaks(this.#withoutMark(this.#decoder.write(chunk)));
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const line = this.#lineWith(text.slice(start, end));
      start = end + 1;
      if (!this.#take(line, take)) return false;
    }
    if (start < text.length) this.#keep(text.slice(start));
    return true;
  }

  /** Ends the stream, because some servers leave out the last empty line; false when no more is wanted. */
  end(take: TakeData): boolean {
    return this.#take(this.#lineWith(''), take) && this.#take('', take);
  }

  /** Removes a byte order mark from the start of the stream. */
  #withoutMark(text: string): string {
    const hasMark = !this.#hasBegun && text.startsWith('\uFEFF');
    this.#hasBegun ||= text !== '';
    return hasMark ? text.slice(1) : text;
  }

  /** Normalises line ends: a carriage return, a line feed, or both. */
  #withPlainBreaks(text: string): string {
    const isRest = this.#endsInReturn && text.startsWith('\n');
    if (text !== '') this.#endsInReturn = text.endsWith('\r');
    const own = isRest ? text.slice(1) : text;
    return own.includes('\r') ? own.replace(/\r\n?/g, '\n') : own;
  }

  #lineWith(end: string): string {
    this.#keep(end);
    const line = this.#line.length === 1 ? end : this.#line.join('');
    this.#line = [];
    return line;
  }

  #keep(piece: string): void {
    this.#line.push(piece);
    this.#size += piece.length;
    if (this.#size > this.#limits.eventMaxBytes) throw tooLong('one event of its answer', this.#limits.eventMaxBytes);
  }

  /** Takes a line; an empty one ends an event. Only data fields are used, and events without data are ignored. */
  #take(line: string, take: TakeData): boolean {
    if (line.startsWith('data:')) this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
    if (line !== '') return true;
    this.#size = 0;
    if (this.#data.length === 0) return true;
    const data = this.#data.join('\n');
    this.#data = [];
    return data.trim() === '' || take(data);
  }
}

export function tooLong(what: string, maxBytes: number): AgentError {
  const size = sizeText(maxBytes);
  return new AgentError('other', `The model's server was cut off: ${what} has more than ${size}. Look at its own log.`);
}
