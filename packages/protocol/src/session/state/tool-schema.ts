import { type Static, Type } from 'typebox';
import { MapOf } from '../../schema/define.js';

export const ToolSchema = Type.Object(
  {
    type: Type.Literal('object'),
    properties: Type.Optional(MapOf(Type.Object({}), { description: 'A JSON Schema for each argument.' })),
    required: Type.Optional(Type.Array(Type.String(), { description: 'Arguments that must be there.' })),
  },
  { $id: 'ToolSchema', description: "The JSON Schema of a tool's input or output." },
);
export type ToolSchema = Static<typeof ToolSchema>;
