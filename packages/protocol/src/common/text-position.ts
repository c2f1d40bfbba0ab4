import { type Static, Type } from 'typebox';

export const TextPosition = Type.Object(
  {
    line: Type.Number({ description: 'From zero.' }),
    character: Type.Number({ description: 'From zero, in UTF-16 units.' }),
  },
  { $id: 'TextPosition', description: 'A place in a text; line and character count from zero.' },
);
export type TextPosition = Static<typeof TextPosition>;
