import { type Static, Type } from 'typebox';

export const TerminalCommandPart = Type.Object(
  {
    type: Type.Literal('command'),
    commandId: Type.String(),
    commandLine: Type.String(),
    output: Type.String({ description: 'What it printed.' }),
    timestamp: Type.Number(),
    isComplete: Type.Boolean({ description: 'Whether it has ended.' }),
    exitCode: Type.Optional(Type.Number()),
    durationMs: Type.Optional(Type.Number()),
  },
  { $id: 'TerminalCommandPart', description: 'A command and its output.' },
);
export type TerminalCommandPart = Static<typeof TerminalCommandPart>;
