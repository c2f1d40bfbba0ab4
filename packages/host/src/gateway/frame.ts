/**
 * How dear a JSON text is, found out before it is parsed. Two megabytes of empty objects take a hundred times as long to
 * parse as two megabytes of text, and what is nested too deeply cannot be written down again by anybody.
 */

import {
  GatewayErrorCode,
  MESSAGE_MAX_BYTES,
  speaksOurVersion,
  TO_GATEWAY_TYPES,
  TOOL_RESULT_MAX_BYTES,
  type ToGatewayMessage,
  type ToGatewayMessageType,
} from '@atrium/protocol/provider';
import { checkToGateway, describeProblem } from '@atrium/protocol/validation';
import { isRecord } from '../core/util/shape.js';
import { GatewayError } from './errors.js';

/** Whoever reads a message walks down into it, and has only so much room for that. */
export const NESTING_MAX_LEVELS = 200;
/** Objects, lists and members of objects in one message: a few tens of milliseconds of parsing. */
export const PIECES_MAX = 50_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
/** One bit tells `[` from `{`, and `]` from `}`. */
const EITHER = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Throws for a text that is not worth parsing. Whether it is JSON at all is another question. */
export function checkWeight(text: string): void {
  let levels = 0;
  let pieces = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if ((code | EITHER) === CLOSING) levels -= 1;
    else if (code === COLON || (code | EITHER) === OPENING) {
      if (code !== COLON && ++levels > NESTING_MAX_LEVELS) throw tooDeep();
      if (++pieces > PIECES_MAX) throw tooManyPieces();
    }
  }
}

/** The place of the closing quote; the end of the text when there is none. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}

function tooDeep(): GatewayError {
  return new GatewayError(GatewayErrorCode.InvalidJson, `a message has at most ${NESTING_MAX_LEVELS} levels`);
}

function tooManyPieces(): GatewayError {
  const what = `${PIECES_MAX} objects, lists and members`;
  return new GatewayError(GatewayErrorCode.PayloadTooLarge, `a message has at most ${what}: send a file instead`);
}

/** Reads one frame of a provider: its size, its JSON, its type, its shape. What is wrong with it is thrown. */

/** All that a stranger has to say is short; longer texts of theirs are not even parsed. */
export const STRANGER_MESSAGE_MAX_CHARACTERS = 64 * 2 ** 10;

/** A JSON object with a type; whether anybody knows the type is another question. */
export interface RawMessage {
  readonly type: string;
  readonly bytes: number;
  readonly content: Readonly<Record<string, unknown>>;
}

export function checkStranger(text: string): void {
  if (text.length <= STRANGER_MESSAGE_MAX_CHARACTERS) return;
  throw new GatewayError(
    GatewayErrorCode.PayloadTooLarge,
    'this is too long before you are let in: authenticate first',
  );
}

export function readRaw(text: string): RawMessage {
  checkWeight(text);
  const content = parsed(text);
  if (!isRecord(content) || typeof content.type !== 'string')
    throw new GatewayError(GatewayErrorCode.InvalidJson, 'a message is a JSON object with a string "type"');
  return { type: content.type, bytes: Buffer.byteLength(text), content };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function knownType(type: string): ToGatewayMessageType | undefined {
  return TO_GATEWAY_TYPES.find((known) => known === type);
}

/** The message, once it is known that this type may be sent now. */
export function readMessage({ type, bytes, content }: RawMessage): ToGatewayMessage {
  const max = type === 'tool.result' ? TOOL_RESULT_MAX_BYTES : MESSAGE_MAX_BYTES;
  if (bytes > max)
    throw new GatewayError(GatewayErrorCode.PayloadTooLarge, `a ${type} has at most ${max} bytes, this one ${bytes}`);
  if (type === 'hello' && !speaksOurVersion(content))
    throw new GatewayError(GatewayErrorCode.UnsupportedVersion, 'this gateway speaks protocolVersion 2 only');
  const checked = checkToGateway(content);
  if (!checked.ok) throw new GatewayError(GatewayErrorCode.InvalidJson, `${type}: ${describeProblem(checked.problem)}`);
  return checked.value;
}
