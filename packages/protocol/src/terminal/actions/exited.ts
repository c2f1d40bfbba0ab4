import { type Static, Type } from 'typebox';

export const TerminalExitedAction = Type.Object(
  { type: Type.Literal('terminal/exited'), exitCode: Type.Optional(Type.Number()) },
  { $id: 'TerminalExitedAction', description: 'The process ended.' },
);
export type TerminalExitedAction = Static<typeof TerminalExitedAction>;
