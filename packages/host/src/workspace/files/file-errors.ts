/**
 * Why a request about a resource fails, in the codes of the protocol. Denials reveal nothing about paths outside of the
 * roots.
 */

import { RequestError } from '@atrium/core/contracts/request-error.js';
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import { ErrorCode, ROOT_CHANNEL } from '@atrium/protocol/ahp-1';
import type { Access } from './roots.js';

/** A person could grant the access; the error tells how to ask. */
export function denied(uri: string, wanted: Access): RequestError {
  const flag = wanted === 'write' ? { write: true } : { read: true };
  const request = { channel: ROOT_CHANNEL, uri, ...flag };
  return new RequestError(ErrorCode.PermissionDenied, `no access to ${uri}: ask for it with resourceRequest`, {
    request,
  });
}

/** No person could grant the access. */
export function refused(message: string): RequestError {
  return new RequestError(ErrorCode.PermissionDenied, message, {});
}

export function notFound(uri: string, why = 'does not exist'): RequestError {
  return new RequestError(ErrorCode.NotFound, `${uri} ${why}`);
}

export function alreadyExists(uri: string, why = 'is there already'): RequestError {
  return new RequestError(ErrorCode.AlreadyExists, `${uri} ${why}`);
}

export function conflict(uri: string): RequestError {
  const message = `${uri} has changed meanwhile: resolve it again, then retry with its new etag`;
  return new RequestError(ErrorCode.Conflict, message);
}

export function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, message);
}

/** The path to a file has changed since it was checked. */
export class MovedError extends Error {
  override readonly name = 'MovedError';
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The answer for an error of the system. An unknown one is an internal error of the host. */
export function asAnswer(error: unknown, uri: string): unknown {
  if (error instanceof ToolFailure) return refused(error.message);
  if (error instanceof MovedError) return refused(`the way to ${uri} keeps changing`);
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP':
      return notFound(uri);
    case 'EEXIST':
      return alreadyExists(uri);
    case 'ENAMETOOLONG':
      return refused(`${uri} is too long`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'EBUSY':
      return refused(`the system does not let the host do that with ${uri}`);
    case 'ENOSPC':
    case 'EDQUOT':
      return new RequestError(ErrorCode.InternalError, 'there is no space left on the disk of the host');
    default:
      return error;
  }
}
