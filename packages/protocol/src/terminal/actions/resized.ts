import { type Static, Type } from 'typebox';

export const TerminalResizedAction = Type.Object(
  { type: Type.Literal('terminal/resized'), cols: Type.Number(), rows: Type.Number() },
  { $id: 'TerminalResizedAction', description: 'The terminal has a new size.' },
);
export type TerminalResizedAction = Static<typeof TerminalResizedAction>;
