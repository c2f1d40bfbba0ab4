import { type Static, Type } from 'typebox';

export const TerminalInputAction = Type.Object(
  {
    type: Type.Literal('terminal/input'),
    data: Type.String({ description: 'Text, with the escape sequences of keys.' }),
  },
  { $id: 'TerminalInputAction', description: 'Keys for the process.' },
);
export type TerminalInputAction = Static<typeof TerminalInputAction>;
