import { Type } from 'typebox';

/** Members that every question has. */
export const questionBase = {
  id: Type.String(),
  title: Type.Optional(Type.String()),
  message: Type.String({ description: 'The question.' }),
  required: Type.Optional(Type.Boolean({ description: 'Whether it must be answered.' })),
};
