import { type Static, Type } from 'typebox';

export const SessionInputSkipped = Type.Object(
  { state: Type.Literal('skipped'), freeformValues: Type.Optional(Type.Array(Type.String())) },
  { $id: 'SessionInputSkipped', description: 'A question left unanswered on purpose.' },
);
export type SessionInputSkipped = Static<typeof SessionInputSkipped>;
