import { type Static, Type } from 'typebox';
import { ToolDefinition } from '../state/tool-definition.js';

export const SessionServerToolsChangedAction = Type.Object(
  { type: Type.Literal('session/serverToolsChanged'), tools: Type.Array(ToolDefinition) },
  {
    $id: 'SessionServerToolsChangedAction',
    description: 'The tools that the host offers changed; carries the full list.',
  },
);
export type SessionServerToolsChangedAction = Static<typeof SessionServerToolsChangedAction>;
