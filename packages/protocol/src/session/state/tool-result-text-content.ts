import { type Static, Type } from 'typebox';

export const ToolResultTextContent = Type.Object(
  { type: Type.Literal('text'), text: Type.String() },
  { $id: 'ToolResultTextContent', description: 'Text from a tool.' },
);
export type ToolResultTextContent = Static<typeof ToolResultTextContent>;
