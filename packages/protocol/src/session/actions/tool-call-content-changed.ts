import { type Static, Type } from 'typebox';
import { ToolResultContent } from '../state/tool-result-content.js';
import { toolCallTarget } from './tool-call-target.js';

export const SessionToolCallContentChangedAction = Type.Object(
  { type: Type.Literal('session/toolCallContentChanged'), ...toolCallTarget, content: Type.Array(ToolResultContent) },
  {
    $id: 'SessionToolCallContentChangedAction',
    description: 'The output so far of a running tool; replaces what was there.',
  },
);
export type SessionToolCallContentChangedAction = Static<typeof SessionToolCallContentChangedAction>;
