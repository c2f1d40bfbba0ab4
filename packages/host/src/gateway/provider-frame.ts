/**
 * Reads one frame of a provider: its size, its parsing cost, its JSON, its type, its shape. Throws a `GatewayError`
 * that says what is wrong.
 */

import { isRecord } from '@atrium/core/util/shape.js';
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
import { GatewayError } from './gateway-errors.js';

/** Before authentication messages are short; longer ones are not even parsed. */
export const UNAUTHENTICATED_MESSAGE_MAX_CHARACTERS = 64 * 2 ** 10;
/** Code that walks through a message is recursive and must not run out of stack. */
export const NESTING_MAX_LEVELS = 200;
/** Objects, lists and members of objects in one message; that many take a few tens of milliseconds to parse. */
export const PIECES_MAX = 50_000;

/** A JSON object with a type, known or not. */
export interface RawMessage {
  readonly type: string;
  readonly bytes: number;
  readonly content: Readonly<Record<string, unknown>>;
}

export function checkUnauthenticated(text: string): void {
  if (text.length <= UNAUTHENTICATED_MESSAGE_MAX_CHARACTERS) return;
  throw new GatewayError(
    GatewayErrorCode.PayloadTooLarge,
    'this message is too long before authentication: authenticate first',
  );
}

export function readRaw(text: string): RawMessage {
  checkParsingCost(text);
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

/** Reads a message whose type is legal in the state of the connection. */
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

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
/** Setting this bit turns `[` into `{` and `]` into `}`. */
const EITHER = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/**
 * Estimates the cost of parsing a JSON text, and throws when it is too high. Two megabytes of empty objects take a
 * hundred times as long to parse as two megabytes of text. Does not check whether the text is JSON: the parser does.
 */
export function checkParsingCost(text: string): void {
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

/** The index of the closing quote; the length of the text if there is none. */
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
