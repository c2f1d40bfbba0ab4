import { type Static, Type } from 'typebox';
import { ToolCallResult } from '../state/tool-call-result.js';
import { toolCallTarget } from './tool-call-target.js';

export const SessionToolCallCompleteAction = Type.Object(
  {
    type: Type.Literal('session/toolCallComplete'),
    ...toolCallTarget,
    result: ToolCallResult,
    requiresResultConfirmation: Type.Optional(
      Type.Boolean({ description: 'Whether a person must say yes before the model sees the result.' }),
    ),
  },
  { $id: 'SessionToolCallCompleteAction', description: 'The tool has returned.' },
);
export type SessionToolCallCompleteAction = Static<typeof SessionToolCallCompleteAction>;
