import { type Static, Type } from 'typebox';

export const TerminalCommandExecutedAction = Type.Object(
  {
    type: Type.Literal('terminal/commandExecuted'),
    commandId: Type.String(),
    commandLine: Type.String(),
    timestamp: Type.Number(),
  },
  { $id: 'TerminalCommandExecutedAction', description: 'A command starts; output belongs to it until it ends.' },
);
export type TerminalCommandExecutedAction = Static<typeof TerminalCommandExecutedAction>;
