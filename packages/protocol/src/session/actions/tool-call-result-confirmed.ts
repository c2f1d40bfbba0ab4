import { type Static, Type } from 'typebox';
import { toolCallTarget } from './tool-call-target.js';

export const SessionToolCallResultConfirmedAction = Type.Object(
  {
    type: Type.Literal('session/toolCallResultConfirmed'),
    ...toolCallTarget,
    approved: Type.Boolean({ description: 'Whether the model may see it.' }),
  },
  { $id: 'SessionToolCallResultConfirmedAction', description: 'A person lets the model see the result, or does not.' },
);
export type SessionToolCallResultConfirmedAction = Static<typeof SessionToolCallResultConfirmedAction>;
