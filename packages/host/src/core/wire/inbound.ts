/** What a client sent, made fit for handlers: parameters as an object, checked, or an error that says what is wrong. */
import { ErrorCode } from '@atrium/protocol';
import { checkClientRequest, describeProblem, isClientRequest } from '@atrium/protocol/validation';
import { RequestError } from '../contracts/request-error.js';
import { FRAME_MAX_BYTES } from '../limits.js';
import { pluginsOnly } from './plugins-only.js';
import { extensionMethods } from './requests.js';

export type Params = Readonly<Record<string, unknown>>;

export function paramsOf(params: unknown): Params {
  return typeof params === 'object' && params !== null && !Array.isArray(params) ? { ...params } : {};
}

/** The parameters of a request, as its schema wants them. Throws the error to answer with. */
export function checkedParams(method: string, params: Params): Params {
  if (extensionMethods.has(method)) return params;
  if (!isClientRequest(method)) throw new RequestError(ErrorCode.MethodNotFound, `there is no method ${method}`);
  const checked = checkClientRequest(method, method === 'createSession' ? pluginsOnly(params).claim : params);
  if (!checked.ok) throw new RequestError(ErrorCode.InvalidParams, `${method}: ${describeProblem(checked.problem)}`);
  return checked.value;
}

/** A character is at most three bytes, so that most texts need not be counted. */
export function isTooLong(text: string): boolean {
  if (text.length * 3 <= FRAME_MAX_BYTES) return false;
  return text.length > FRAME_MAX_BYTES || Buffer.byteLength(text) > FRAME_MAX_BYTES;
}

/** The id of a request that is too long to be read whole; it stands at one of the ends of what clients write. */
export function idIn(text: string): number | null {
  const ends = `${text.slice(0, 200)} ${text.slice(-200)}`;
  const [, id] = /"id"\s*:\s*(\d{1,15})\b/.exec(ends) ?? [];
  return id === undefined ? null : Number(id);
}
