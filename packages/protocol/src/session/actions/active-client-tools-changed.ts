import { type Static, Type } from 'typebox';
import { ToolDefinition } from '../state/tool-definition.js';

export const SessionActiveClientToolsChangedAction = Type.Object(
  { type: Type.Literal('session/activeClientToolsChanged'), tools: Type.Array(ToolDefinition) },
  {
    $id: 'SessionActiveClientToolsChangedAction',
    description: "The active client's tools changed; carries the full list.",
  },
);
export type SessionActiveClientToolsChangedAction = Static<typeof SessionActiveClientToolsChangedAction>;
