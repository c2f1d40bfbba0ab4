import { type Static, Type } from 'typebox';

export const ChangesetSummary = Type.Object(
  {
    label: Type.String(),
    uriTemplate: Type.String(),
    description: Type.Optional(Type.String()),
    additions: Type.Optional(Type.Number()),
    deletions: Type.Optional(Type.Number()),
    files: Type.Optional(Type.Number()),
  },
  {
    $id: 'ChangesetSummary',
    description: 'A catalogue entry for a set of changes; the URI template expands to its channel.',
  },
);
export type ChangesetSummary = Static<typeof ChangesetSummary>;
