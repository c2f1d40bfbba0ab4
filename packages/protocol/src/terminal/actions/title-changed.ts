import { type Static, Type } from 'typebox';

export const TerminalTitleChangedAction = Type.Object(
  { type: Type.Literal('terminal/titleChanged'), title: Type.String() },
  { $id: 'TerminalTitleChangedAction', description: 'The terminal has a new title.' },
);
export type TerminalTitleChangedAction = Static<typeof TerminalTitleChangedAction>;
