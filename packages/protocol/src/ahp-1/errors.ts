/** The `data` of the errors that have a defined shape. Senders always add the object. */
import { type Static, Type } from 'typebox';
import { AuthRequiredErrorData } from '../errors/data.js';
import { ResourceRequestParams } from './root/resources.js';

export { AuthRequiredErrorData };

export const PermissionDeniedErrorData = Type.Object(
  { request: Type.Optional(ResourceRequestParams) },
  { $id: 'PermissionDeniedErrorData', description: 'The request that would unlock the resource, if there is one.' },
);
export type PermissionDeniedErrorData = Static<typeof PermissionDeniedErrorData>;

export const UnsupportedProtocolVersionErrorData = Type.Object(
  { supportedVersions: Type.Array(Type.String(), { description: 'Versions that the host speaks.' }) },
  { $id: 'UnsupportedProtocolVersionErrorData', description: 'The versions that the host speaks.' },
);
export type UnsupportedProtocolVersionErrorData = Static<typeof UnsupportedProtocolVersionErrorData>;

export const errorData = {
  UnsupportedProtocolVersion: UnsupportedProtocolVersionErrorData,
  AuthRequired: AuthRequiredErrorData,
  PermissionDenied: PermissionDeniedErrorData,
} as const;

export type ErrorDataMap = { [Name in keyof typeof errorData]: Static<(typeof errorData)[Name]> };
