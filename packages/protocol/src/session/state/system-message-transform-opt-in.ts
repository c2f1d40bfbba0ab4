import { type Static, Type } from 'typebox';

export const SystemMessageTransformOptIn = Type.Object(
  { sections: Type.Array(Type.String(), { description: 'Ids of sections.' }) },
  { $id: 'SystemMessageTransformOptIn', description: 'The prompt sections a client offers to rewrite.' },
);
export type SystemMessageTransformOptIn = Static<typeof SystemMessageTransformOptIn>;
