import { type Static, Type } from 'typebox';

export const SessionInputOption = Type.Object(
  {
    id: Type.String(),
    label: Type.String(),
    description: Type.Optional(Type.String()),
    recommended: Type.Optional(Type.Boolean({ description: 'Whether it is the choice that fits most people.' })),
  },
  { $id: 'SessionInputOption', description: 'One choice of a question.' },
);
export type SessionInputOption = Static<typeof SessionInputOption>;
