import { type Static, Type } from 'typebox';

export const TerminalDataAction = Type.Object(
  {
    type: Type.Literal('terminal/data'),
    data: Type.String({ description: 'Text, with the escape sequences of a terminal.' }),
  },
  { $id: 'TerminalDataAction', description: 'Output of the process.' },
);
export type TerminalDataAction = Static<typeof TerminalDataAction>;
