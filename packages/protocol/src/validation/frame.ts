/** Reads one frame: turns untrusted text into a JSON-RPC message, or into a typed error to answer with. */
import { ErrorCode } from '../errors/codes.js';
import type { JsonRpcErrorObject } from '../rpc.js';

/** Deeper nesting is refused: no message needs it, and recursive code would run out of stack. */
export const FRAME_MAX_DEPTH = 64;

export type Frame =
  | { readonly kind: 'request'; readonly id: number; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'success'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failure'; readonly id: number | null; readonly error: JsonRpcErrorObject }
  | FrameError;

/** What is wrong with a frame. `id` is that of the request to answer, if it could be read. */
export interface FrameError {
  readonly kind: 'invalid';
  readonly id: number | null;
  readonly code: typeof ErrorCode.ParseError | typeof ErrorCode.InvalidRequest;
  readonly message: string;
}

export function readFrame(text: string): Frame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid(null, 'The frame is not JSON: send one JSON object in each frame.', ErrorCode.ParseError);
  }
  return readMessage(value);
}

/** The same for a message that was never text, as on a MessagePort. */
export function readMessage(value: unknown): Frame {
  if (Array.isArray(value)) return invalid(null, 'Batches are not supported: send each message in its own frame.');
  if (!isObject(value)) return invalid(null, 'A message must be a JSON object.');
  const id = typeof value.id === 'number' && Number.isFinite(value.id) ? value.id : null;
  const harm = disarm(value, 0);
  if (harm) return invalid(id, harm);
  if (value.jsonrpc !== '2.0') return invalid(id, 'A message must have "jsonrpc": "2.0".');
  return classify(value, id);
}

/** Checks the members in the protocol's order: first for a response, then a request, then a notification. */
function classify(value: Record<string, unknown>, id: number | null): Frame {
  const { method, params, result, error } = value;
  if ('id' in value && 'result' in value) return id === null ? badId() : { kind: 'success', id, result };
  if ('id' in value && 'error' in value) return failure(error, value.id === null ? null : id);
  if (typeof method !== 'string') return invalid(id, 'A message must have a "method", a "result" or an "error".');
  if (!('id' in value)) return { kind: 'notification', method, params };
  return id === null ? badId() : { kind: 'request', id, method, params };
}

function failure(error: unknown, id: number | null): Frame {
  const { code, message, data } = isObject(error) ? error : {};
  if (typeof code !== 'number' || typeof message !== 'string') {
    return invalid(id, 'An "error" must have a number "code" and a string "message".');
  }
  return { kind: 'failure', id, error: data === undefined ? { code, message } : { code, message, data } };
}

function badId(): FrameError {
  return invalid(null, 'An "id" must be a number.');
}

function invalid(id: number | null, message: string, code: FrameError['code'] = ErrorCode.InvalidRequest): FrameError {
  return { kind: 'invalid', id, code, message };
}

/**
 * Makes a parsed value harmless, or says why that is impossible. A member called `__proto__` is dropped like any
 * unknown one; a number that does not fit a double (`1e999`) would be written as `null` later, so it is refused.
 */
function disarm(value: unknown, depth: number): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'A number is too large.';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === FRAME_MAX_DEPTH) return `A message must not nest deeper than ${FRAME_MAX_DEPTH} levels.`;
  if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__');
  for (const inner of Object.values(value)) {
    const harm = disarm(inner, depth + 1);
    if (harm) return harm;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
