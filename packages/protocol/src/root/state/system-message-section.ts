import { type Static, Type } from 'typebox';

export const SystemMessageSection = Type.Object(
  {
    id: Type.String(),
    label: Type.String(),
    description: Type.Optional(Type.String()),
    restricted: Type.Optional(Type.Boolean({ description: 'Whether nobody may rewrite it.' })),
  },
  { $id: 'SystemMessageSection', description: "One section of an agent's system prompt, as its catalogue names it." },
);
export type SystemMessageSection = Static<typeof SystemMessageSection>;
