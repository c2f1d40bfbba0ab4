import { type Static, Type } from 'typebox';
import { customizationBase } from './customization-base.js';

export const McpServerCustomization = Type.Object(
  { type: Type.Literal('mcpServer'), ...customizationBase },
  { $id: 'McpServerCustomization', description: 'A Model Context Protocol server.' },
);
export type McpServerCustomization = Static<typeof McpServerCustomization>;
