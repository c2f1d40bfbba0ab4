import { type Static, Type } from 'typebox';
import { ProtectedResourceMetadata } from '../common/protected-resource-metadata.js';

export const AuthRequiredErrorData = Type.Object(
  { resources: Type.Array(ProtectedResourceMetadata) },
  { $id: 'AuthRequiredErrorData', description: 'Which resources need a token.' },
);
export type AuthRequiredErrorData = Static<typeof AuthRequiredErrorData>;
