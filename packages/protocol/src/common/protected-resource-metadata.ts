import { type Static, Type } from 'typebox';

export const ProtectedResourceMetadata = Type.Object(
  {
    resource: Type.String({ description: 'Its identifier, a URI.' }),
    resource_name: Type.Optional(Type.String({ description: 'Its name, for people.' })),
    authorization_servers: Type.Optional(Type.Array(Type.String(), { description: 'Who gives out tokens for it.' })),
    jwks_uri: Type.Optional(Type.String({ description: 'Where its keys are.' })),
    scopes_supported: Type.Optional(Type.Array(Type.String(), { description: 'Scopes that a token can have.' })),
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
    resource_policy_uri: Type.Optional(Type.String({ description: 'A page about what clients may do.' })),
    resource_tos_uri: Type.Optional(Type.String({ description: 'Its terms of service.' })),
    required: Type.Optional(Type.Boolean({ description: 'Whether nothing works without a token.' })),
  },
  {
    $id: 'ProtectedResourceMetadata',
    description: 'A resource that needs a token, described in the words of RFC 9728.',
  },
);
export type ProtectedResourceMetadata = Static<typeof ProtectedResourceMetadata>;
