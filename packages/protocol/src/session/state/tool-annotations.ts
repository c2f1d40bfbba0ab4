import { type Static, Type } from 'typebox';

export const ToolAnnotations = Type.Object(
  {
    title: Type.Optional(Type.String()),
    readOnlyHint: Type.Optional(Type.Boolean({ description: 'It changes nothing.' })),
    destructiveHint: Type.Optional(Type.Boolean({ description: 'It may destroy something.' })),
    idempotentHint: Type.Optional(Type.Boolean({ description: 'Doing it twice changes no more than doing it once.' })),
    openWorldHint: Type.Optional(Type.Boolean({ description: 'It reaches beyond this machine.' })),
  },
  { $id: 'ToolAnnotations', description: 'Advice about what a tool does; never a promise.' },
);
export type ToolAnnotations = Static<typeof ToolAnnotations>;
