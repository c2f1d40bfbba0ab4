import { type Static, Type } from 'typebox';

export const ErrorInfo = Type.Object(
  {
    errorType: Type.String({ description: 'The kind of failure, for programs.' }),
    message: Type.String(),
    stack: Type.Optional(Type.String({ description: 'Where it failed, for developers.' })),
  },
  { $id: 'ErrorInfo', description: 'What went wrong, for people and for programs.' },
);
export type ErrorInfo = Static<typeof ErrorInfo>;
