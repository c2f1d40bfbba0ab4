/** The errors whose `data` has a defined shape. Send the object always; accept its absence. */
import type { Static } from 'typebox';
import { AuthRequiredErrorData } from './auth-required-error-data.js';
import { ErrorCode } from './error-codes.js';
import { PermissionDeniedErrorData } from './permission-denied-error-data.js';
import { UnsupportedProtocolVersionErrorData } from './unsupported-protocol-version-error-data.js';

export const errorData = {
  [ErrorCode.UnsupportedProtocolVersion]: UnsupportedProtocolVersionErrorData,
  [ErrorCode.AuthRequired]: AuthRequiredErrorData,
  [ErrorCode.PermissionDenied]: PermissionDeniedErrorData,
} as const;

export type ErrorDataMap = { [Code in keyof typeof errorData]: Static<(typeof errorData)[Code]> };
