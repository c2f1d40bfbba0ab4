import { type Static, Type } from 'typebox';

export const TerminalClearedAction = Type.Object(
  { type: Type.Literal('terminal/cleared') },
  { $id: 'TerminalClearedAction', description: 'The screen and its history were cleared.' },
);
export type TerminalClearedAction = Static<typeof TerminalClearedAction>;
