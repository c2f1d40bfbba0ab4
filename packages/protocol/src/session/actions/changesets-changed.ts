import { type Static, Type } from 'typebox';
import { ChangesetSummary } from '../state/changeset-summary.js';

export const SessionChangesetsChangedAction = Type.Object(
  { type: Type.Literal('session/changesetsChanged'), changesets: Type.Optional(Type.Array(ChangesetSummary)) },
  { $id: 'SessionChangesetsChangedAction', description: 'The catalogue of changesets.' },
);
export type SessionChangesetsChangedAction = Static<typeof SessionChangesetsChangedAction>;
