import { type Static, Type } from 'typebox';

export const TerminalUnclassifiedPart = Type.Object(
  { type: Type.Literal('unclassified'), value: Type.String({ description: 'The output.' }) },
  { $id: 'TerminalUnclassifiedPart', description: 'Output that belongs to no known command.' },
);
export type TerminalUnclassifiedPart = Static<typeof TerminalUnclassifiedPart>;
