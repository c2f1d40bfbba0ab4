import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';

export const AuthenticateParams = Type.Object(
  {
    channel: RootChannel,
    resource: Type.String({ description: 'The protected resource, by its identifier.' }),
    token: Type.String({ description: 'The bearer token. It is never in any state or log.' }),
  },
  { $id: 'AuthenticateParams', description: 'Brings a bearer token for a protected resource.' },
);
export type AuthenticateParams = Static<typeof AuthenticateParams>;

export const AuthenticateResult = Type.Object(
  {},
  { $id: 'AuthenticateResult', description: 'The token was accepted.' },
);
export type AuthenticateResult = Static<typeof AuthenticateResult>;
