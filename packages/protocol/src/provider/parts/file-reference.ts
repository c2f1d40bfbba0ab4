import { type Static, Type } from 'typebox';

export const ProviderFileReference = Type.Object(
  {
    path: Type.String({ description: 'Absolute, inside the `persistDir` of the provider.' }),
    mimeType: Type.String({ description: 'Its media type.' }),
    size: Type.Integer({ minimum: 0, description: 'In bytes.' }),
    ttl: Type.Number({ minimum: 0, description: 'Seconds until the provider may delete the file.' }),
  },
  { $id: 'ProviderFileReference', description: 'A result too big to send, left in a file for the gateway to read.' },
);
export type ProviderFileReference = Static<typeof ProviderFileReference>;
