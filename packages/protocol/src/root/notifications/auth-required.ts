import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';
import { Choice } from '../../schema/define.js';

export const AuthRequiredParams = Type.Object(
  {
    channel: URI,
    resource: Type.String({ description: 'The protected resource, by its identifier.' }),
    reason: Type.Optional(
      Choice(['required', 'expired'], { description: 'Whether none was given yet, or it is no longer good.' }),
    ),
  },
  { $id: 'AuthRequiredParams', description: 'A token is needed, or has expired.' },
);
export type AuthRequiredParams = Static<typeof AuthRequiredParams>;
