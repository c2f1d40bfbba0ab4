import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';
import { Choice } from '../../schema/define.js';

export const AuthRequiredParams = Type.Object(
  { channel: URI, resource: Type.String(), reason: Type.Optional(Choice(['required', 'expired'])) },
  { $id: 'AuthRequiredParams', description: 'A token is needed, or has expired.' },
);
export type AuthRequiredParams = Static<typeof AuthRequiredParams>;
