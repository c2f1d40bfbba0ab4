/** The error for a client that names a channel which does not exist, or does not exist for it. */
import { ErrorCode } from '@atrium/protocol/ahp-1';
import { RequestError } from '../contracts/request-error.js';

export function unknownChannel(uri: string): RequestError {
  const isOther = /^ahp-(chat|terminal|changeset|resource-watch|otlp|root|automation|canvas)/.test(uri);
  if (isOther) return new RequestError(ErrorCode.NotFound, `there is no channel ${uri}`);
  return new RequestError(ErrorCode.SessionNotFound, `there is no session ${uri}; listSessions lists the sessions`);
}
