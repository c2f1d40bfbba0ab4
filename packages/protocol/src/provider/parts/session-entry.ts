import { type Static, Type } from 'typebox';

export const ProviderSessionEntry = Type.Object(
  {
    id: Type.String(),
    label: Type.String(),
    cwd: Type.Optional(Type.String({ description: 'Its folder; only for a session that the provider may bind to.' })),
  },
  { $id: 'ProviderSessionEntry', description: 'One active session, as a provider may see it.' },
);
export type ProviderSessionEntry = Static<typeof ProviderSessionEntry>;
