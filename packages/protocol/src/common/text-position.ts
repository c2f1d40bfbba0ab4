import { type Static, Type } from 'typebox';

export const TextPosition = Type.Object(
  { line: Type.Number(), character: Type.Number() },
  { $id: 'TextPosition', description: 'A place in a text; line and character count from zero.' },
);
export type TextPosition = Static<typeof TextPosition>;
