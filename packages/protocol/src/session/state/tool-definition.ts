import { type Static, Type } from 'typebox';
import { Meta } from '../../common/meta.js';
import { ToolAnnotations } from './tool-annotations.js';
import { ToolSchema } from './tool-schema.js';

export const ToolDefinition = Type.Object(
  {
    name: Type.String(),
    title: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    inputSchema: Type.Optional(ToolSchema),
    outputSchema: Type.Optional(ToolSchema),
    annotations: Type.Optional(ToolAnnotations),
    _meta: Type.Optional(Meta),
  },
  { $id: 'ToolDefinition', description: 'A tool the model may call.' },
);
export type ToolDefinition = Static<typeof ToolDefinition>;
