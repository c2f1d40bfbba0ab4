/** Reads one frame of a provider: its size, its JSON, its type, its shape. What is wrong with it is thrown. */
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
import { GatewayError } from './gateway-error.js';
import { checkWeight } from './json-weight.js';

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
