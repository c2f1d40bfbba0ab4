/** Sets of changed files: their state, and the entry that a session lists them by. */
import { type Static, Type } from 'typebox';
import { ErrorInfo, FileEdit, Meta, StringOrMarkdown } from '../common/types.js';
import { Choice } from '../schema/define.js';

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
    description: 'An entry in the list of changesets; the URI template expands to its channel.',
  },
);
export type ChangesetSummary = Static<typeof ChangesetSummary>;

export const ChangesetFile = Type.Object(
  { id: Type.String(), edit: FileEdit, _meta: Type.Optional(Meta) },
  { $id: 'ChangesetFile', description: 'One changed file.' },
);
export type ChangesetFile = Static<typeof ChangesetFile>;

export const ChangesetOperationScope = Choice(['changeset', 'resource', 'range'], {
  $id: 'ChangesetOperationScope',
  description: 'What an operation applies to.',
});
export type ChangesetOperationScope = Static<typeof ChangesetOperationScope>;

export const ChangesetOperation = Type.Object(
  {
    id: Type.String(),
    label: Type.String(),
    description: Type.Optional(Type.String()),
    scopes: Type.Array(ChangesetOperationScope),
    confirmation: Type.Optional(StringOrMarkdown),
    icon: Type.Optional(Type.String({ description: 'The name of an icon.' })),
  },
  {
    $id: 'ChangesetOperation',
    description: 'An operation on changes; one with a `confirmation` is destructive.',
  },
);
export type ChangesetOperation = Static<typeof ChangesetOperation>;

export const ChangesetStatus = Choice(['computing', 'ready', 'error'], {
  $id: 'ChangesetStatus',
  description: 'Whether the list of changes is complete.',
});
export type ChangesetStatus = Static<typeof ChangesetStatus>;

export const ChangesetState = Type.Object(
  {
    status: ChangesetStatus,
    error: Type.Optional(ErrorInfo),
    files: Type.Array(ChangesetFile),
    operations: Type.Optional(Type.Array(ChangesetOperation)),
  },
  { $id: 'ChangesetState', description: 'A set of changes.' },
);
export type ChangesetState = Static<typeof ChangesetState>;
