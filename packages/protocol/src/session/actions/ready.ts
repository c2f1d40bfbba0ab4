import { type Static, Type } from 'typebox';

export const SessionReadyAction = Type.Object(
  { type: Type.Literal('session/ready') },
  { $id: 'SessionReadyAction', description: 'The backend is up.' },
);
export type SessionReadyAction = Static<typeof SessionReadyAction>;
