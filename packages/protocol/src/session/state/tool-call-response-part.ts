import { type Static, Type } from 'typebox';
import { ToolCallState } from './tool-call-state.js';

export const ToolCallResponsePart = Type.Object(
  { kind: Type.Literal('toolCall'), toolCall: ToolCallState },
  { $id: 'ToolCallResponsePart', description: 'A tool call, in its place in the answer.' },
);
export type ToolCallResponsePart = Static<typeof ToolCallResponsePart>;
