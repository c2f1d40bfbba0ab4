/** Answers what the host asks of this client. */

import type { Log } from '@atrium/link';
import { ErrorCode, type HostRequestMethod, type HostRequests } from '@atrium/protocol';
import { checkHostRequest, describeProblem, isHostRequest } from '@atrium/protocol/validation';
import { RequestError } from './errors.js';
import type { Answer } from './peer.js';

type Handler<M extends HostRequestMethod> = (
  params: HostRequests[M]['params'],
) => HostRequests[M]['result'] | Promise<HostRequests[M]['result']>;

/**
 * What this client answers, by method. Throw a `RequestError` to refuse: `-32009` for what is not allowed, `-32008`
 * for what is not there. Methods that are left out are answered with "method not found".
 */
export type HostRequestHandlers = { readonly [M in HostRequestMethod]?: Handler<M> };

export async function answer(
  handlers: HostRequestHandlers,
  method: string,
  params: unknown,
  log: Log,
): Promise<Answer> {
  const handler = isHostRequest(method) ? (handlers[method] as Handler<HostRequestMethod> | undefined) : undefined;
  if (!isHostRequest(method) || !handler)
    return failure(ErrorCode.MethodNotFound, `This client does not answer ${method}.`);
  const checked = checkHostRequest(method, params);
  if (!checked.ok) return failure(ErrorCode.InvalidParams, `${method}: ${describeProblem(checked.problem)}.`);
  try {
    return { result: await handler(checked.value) };
  } catch (error) {
    if (error instanceof RequestError) return failure(error.code, error.message, error.data);
    log(`the handler of ${method} threw`, error);
    return failure(ErrorCode.InternalError, `The client failed to answer ${method}.`);
  }
}

function failure(code: number, message: string, data?: unknown): Answer {
  return { error: data === undefined ? { code, message } : { code, message, data } };
}
