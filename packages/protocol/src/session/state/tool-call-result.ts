import { type Static, Type } from 'typebox';
import { toolCallResultMembers } from './tool-call-result-members.js';

export const ToolCallResult = Type.Object(
  { ...toolCallResultMembers },
  { $id: 'ToolCallResult', description: 'What a tool returned.' },
);
export type ToolCallResult = Static<typeof ToolCallResult>;
