import { type Static, Type } from 'typebox';

export const TerminalCommandFinishedAction = Type.Object(
  {
    type: Type.Literal('terminal/commandFinished'),
    commandId: Type.String(),
    exitCode: Type.Optional(Type.Number()),
    durationMs: Type.Optional(Type.Number()),
  },
  { $id: 'TerminalCommandFinishedAction', description: 'A command ended.' },
);
export type TerminalCommandFinishedAction = Static<typeof TerminalCommandFinishedAction>;
