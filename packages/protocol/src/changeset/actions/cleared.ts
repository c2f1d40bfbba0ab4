import { type Static, Type } from 'typebox';

export const ChangesetClearedAction = Type.Object(
  { type: Type.Literal('changeset/cleared') },
  { $id: 'ChangesetClearedAction', description: 'All files are taken out: computed anew, or the session is over.' },
);
export type ChangesetClearedAction = Static<typeof ChangesetClearedAction>;
