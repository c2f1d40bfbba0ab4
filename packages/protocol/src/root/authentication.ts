/** Tokens for the resources behind the host. */
import { type Static, Type } from 'typebox';
import { RootChannel, URI } from '../common/types.js';
import { Choice } from '../schema/define.js';

export const ProtectedResourceMetadata = Type.Object(
  {
    resource: Type.String({ description: 'Its identifier, a URI.' }),
    resource_name: Type.Optional(Type.String({ description: 'Its name, for people.' })),
    authorization_servers: Type.Optional(
      Type.Array(Type.String(), { description: 'The servers that issue tokens for it.' }),
    ),
    jwks_uri: Type.Optional(Type.String({ description: 'The URL of its key set.' })),
    scopes_supported: Type.Optional(Type.Array(Type.String(), { description: 'Scopes that a token may have.' })),
    bearer_methods_supported: Type.Optional(Type.Array(Type.String(), { description: 'How a token may be sent.' })),
    resource_signing_alg_values_supported: Type.Optional(
      Type.Array(Type.String(), { description: 'Algorithms for signed answers.' }),
    ),
    resource_encryption_alg_values_supported: Type.Optional(
      Type.Array(Type.String(), { description: 'Algorithms for encrypted answers.' }),
    ),
    resource_encryption_enc_values_supported: Type.Optional(
      Type.Array(Type.String(), { description: 'Encodings for encrypted answers.' }),
    ),
    resource_documentation: Type.Optional(Type.String({ description: 'A page for developers.' })),
    resource_policy_uri: Type.Optional(Type.String({ description: 'A page with the rules for clients.' })),
    resource_tos_uri: Type.Optional(Type.String({ description: 'Its terms of service.' })),
    required: Type.Optional(Type.Boolean({ description: 'Whether the agent cannot work without a token.' })),
  },
  {
    $id: 'ProtectedResourceMetadata',
    description: 'A resource that needs a token, described as in RFC 9728.',
  },
);
export type ProtectedResourceMetadata = Static<typeof ProtectedResourceMetadata>;

export const AuthenticateParams = Type.Object(
  {
    channel: RootChannel,
    resource: Type.String({ description: 'The protected resource, by its identifier.' }),
    token: Type.String({ description: 'The bearer token. It never appears in a state or a log.' }),
  },
  { $id: 'AuthenticateParams', description: 'Gives the host a bearer token for a protected resource.' },
);
export type AuthenticateParams = Static<typeof AuthenticateParams>;

export const AuthenticateResult = Type.Object(
  {},
  { $id: 'AuthenticateResult', description: 'The token was accepted.' },
);
export type AuthenticateResult = Static<typeof AuthenticateResult>;

export const AuthRequiredParams = Type.Object(
  {
    channel: URI,
    resource: Type.String({ description: 'The protected resource, by its identifier.' }),
    reason: Type.Optional(
      Choice(['required', 'expired'], { description: 'Whether there is no token yet, or it has expired.' }),
    ),
  },
  { $id: 'AuthRequiredParams', description: 'A token is needed, or has expired.' },
);
export type AuthRequiredParams = Static<typeof AuthRequiredParams>;
