import { type Static, Type } from 'typebox';

export const ProtectedResourceMetadata = Type.Object(
  {
    resource: Type.String(),
    resource_name: Type.Optional(Type.String()),
    authorization_servers: Type.Optional(Type.Array(Type.String())),
    jwks_uri: Type.Optional(Type.String()),
    scopes_supported: Type.Optional(Type.Array(Type.String())),
    bearer_methods_supported: Type.Optional(Type.Array(Type.String())),
    resource_signing_alg_values_supported: Type.Optional(Type.Array(Type.String())),
    resource_encryption_alg_values_supported: Type.Optional(Type.Array(Type.String())),
    resource_encryption_enc_values_supported: Type.Optional(Type.Array(Type.String())),
    resource_documentation: Type.Optional(Type.String()),
    resource_policy_uri: Type.Optional(Type.String()),
    resource_tos_uri: Type.Optional(Type.String()),
    required: Type.Optional(Type.Boolean()),
  },
  {
    $id: 'ProtectedResourceMetadata',
    description: 'A resource that needs a token, described in the words of RFC 9728.',
  },
);
export type ProtectedResourceMetadata = Static<typeof ProtectedResourceMetadata>;
