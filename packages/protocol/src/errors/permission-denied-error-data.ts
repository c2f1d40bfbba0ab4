import { type Static, Type } from 'typebox';
import { ResourceRequestParams } from '../root/commands/resource-request.js';

export const PermissionDeniedErrorData = Type.Object(
  { request: Type.Optional(ResourceRequestParams) },
  { $id: 'PermissionDeniedErrorData', description: 'The request that would unlock the resource, where there is one.' },
);
export type PermissionDeniedErrorData = Static<typeof PermissionDeniedErrorData>;
