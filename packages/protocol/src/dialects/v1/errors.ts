/** Errors as version 1 knows them: a number and a sentence. */
import { ErrorCode } from '../../errors/codes.js';
import type { JsonRpcErrorObject } from '../../rpc.js';

/** An unknown provider is an internal error there, under a fixed beginning; all other numbers stay. */
export function errorToV1({ code, message }: JsonRpcErrorObject): JsonRpcErrorObject {
  if (code !== ErrorCode.ProviderNotFound) return { code, message };
  return { code: ErrorCode.InternalError, message: `No agent for provider: ${message}` };
}
