import { type Static, Type } from 'typebox';

export const ErrorInfo = Type.Object(
  { errorType: Type.String(), message: Type.String(), stack: Type.Optional(Type.String()) },
  { $id: 'ErrorInfo', description: 'What went wrong, for people and for programs.' },
);
export type ErrorInfo = Static<typeof ErrorInfo>;
