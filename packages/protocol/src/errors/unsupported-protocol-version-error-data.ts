import { type Static, Type } from 'typebox';

export const UnsupportedProtocolVersionErrorData = Type.Object(
  { supportedVersions: Type.Optional(Type.Array(Type.String(), { description: 'Versions that the host speaks.' })) },
  { $id: 'UnsupportedProtocolVersionErrorData', description: 'What the host could speak instead.' },
);
export type UnsupportedProtocolVersionErrorData = Static<typeof UnsupportedProtocolVersionErrorData>;
