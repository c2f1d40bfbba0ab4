import { type Static, Type } from 'typebox';

export const ToolCallError = Type.Object(
  { message: Type.String(), code: Type.Optional(Type.String({ description: 'For programs, such as `TIMEOUT`.' })) },
  { $id: 'ToolCallError', description: 'Why a tool failed.' },
);
export type ToolCallError = Static<typeof ToolCallError>;
