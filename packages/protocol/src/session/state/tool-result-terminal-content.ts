import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const ToolResultTerminalContent = Type.Object(
  { type: Type.Literal('terminal'), resource: URI, title: Type.String() },
  { $id: 'ToolResultTerminalContent', description: 'The terminal a tool runs in.' },
);
export type ToolResultTerminalContent = Static<typeof ToolResultTerminalContent>;
