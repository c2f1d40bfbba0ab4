import { type Static, Type } from 'typebox';

export const ProviderFileReference = Type.Object(
  {
    /** Absolute, inside the `persistDir` of the provider. Checked where the file is read, not here. */
    path: Type.String(),
    mimeType: Type.String(),
    /** Bytes. */
    size: Type.Integer({ minimum: 0 }),
    /** Seconds until the provider may delete the file. */
    ttl: Type.Number({ minimum: 0 }),
  },
  { $id: 'ProviderFileReference', description: 'A result too big to send, left in a file for the gateway to read.' },
);
export type ProviderFileReference = Static<typeof ProviderFileReference>;
