import { type Static, Type } from 'typebox';
import { toolCallTarget } from './tool-call-target.js';

export const SessionToolCallStartAction = Type.Object(
  {
    type: Type.Literal('session/toolCallStart'),
    ...toolCallTarget,
    toolName: Type.String(),
    displayName: Type.String(),
    toolClientId: Type.Optional(Type.String()),
  },
  { $id: 'SessionToolCallStartAction', description: 'The model begins a tool call; its parameters follow.' },
);
export type SessionToolCallStartAction = Static<typeof SessionToolCallStartAction>;
