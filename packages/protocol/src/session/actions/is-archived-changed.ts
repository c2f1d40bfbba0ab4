import { type Static, Type } from 'typebox';

export const SessionIsArchivedChangedAction = Type.Object(
  {
    type: Type.Literal('session/isArchivedChanged'),
    isArchived: Type.Boolean({ description: 'Whether it was put away.' }),
  },
  { $id: 'SessionIsArchivedChangedAction', description: 'The session was put away, or taken out again.' },
);
export type SessionIsArchivedChangedAction = Static<typeof SessionIsArchivedChangedAction>;
