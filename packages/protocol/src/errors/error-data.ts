/** The errors whose `data` has a defined shape, by name. Send the object always; accept its absence. */
import type { Static } from 'typebox';
import { AuthRequiredErrorData } from './auth-required-error-data.js';
import { PermissionDeniedErrorData } from './permission-denied-error-data.js';
import { UnsupportedProtocolVersionErrorData } from './unsupported-protocol-version-error-data.js';

export const errorData = {
  UnsupportedProtocolVersion: UnsupportedProtocolVersionErrorData,
  AuthRequired: AuthRequiredErrorData,
  PermissionDenied: PermissionDeniedErrorData,
} as const;

export type ErrorDataMap = { [Name in keyof typeof errorData]: Static<(typeof errorData)[Name]> };
