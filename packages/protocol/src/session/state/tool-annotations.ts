import { type Static, Type } from 'typebox';

export const ToolAnnotations = Type.Object(
  {
    title: Type.Optional(Type.String()),
    readOnlyHint: Type.Optional(Type.Boolean()),
    destructiveHint: Type.Optional(Type.Boolean()),
    idempotentHint: Type.Optional(Type.Boolean()),
    openWorldHint: Type.Optional(Type.Boolean()),
  },
  { $id: 'ToolAnnotations', description: 'Advice about what a tool does; never a promise.' },
);
export type ToolAnnotations = Static<typeof ToolAnnotations>;
