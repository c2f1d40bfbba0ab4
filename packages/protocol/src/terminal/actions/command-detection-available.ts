import { type Static, Type } from 'typebox';

export const TerminalCommandDetectionAvailableAction = Type.Object(
  { type: Type.Literal('terminal/commandDetectionAvailable') },
  { $id: 'TerminalCommandDetectionAvailableAction', description: 'From here on commands can be told apart.' },
);
export type TerminalCommandDetectionAvailableAction = Static<typeof TerminalCommandDetectionAvailableAction>;
