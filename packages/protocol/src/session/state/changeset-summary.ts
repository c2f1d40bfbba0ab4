import { type Static, Type } from 'typebox';

export const ChangesetSummary = Type.Object(
  {
    label: Type.String(),
    uriTemplate: Type.String({ description: 'The URI of its channel, as an RFC 6570 template.' }),
    description: Type.Optional(Type.String()),
    additions: Type.Optional(Type.Number({ description: 'Lines.' })),
    deletions: Type.Optional(Type.Number({ description: 'Lines.' })),
    files: Type.Optional(Type.Number({ description: 'How many files.' })),
  },
  {
    $id: 'ChangesetSummary',
    description: 'A catalogue entry for a set of changes; the URI template expands to its channel.',
  },
);
export type ChangesetSummary = Static<typeof ChangesetSummary>;
