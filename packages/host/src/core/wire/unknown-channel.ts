/** The answer to whoever names a channel that is not there. */
import { ErrorCode } from '@atrium/protocol';
import { RequestError } from '../contracts/request-error.js';

export function unknownChannel(uri: string): RequestError {
  const isOther = /^ahp-(terminal|changeset|resource-watch|otlp|root)/.test(uri);
  if (isOther) return new RequestError(ErrorCode.NotFound, `there is no channel ${uri}`);
  return new RequestError(ErrorCode.SessionNotFound, `there is no session ${uri}; listSessions names those there are`);
}
