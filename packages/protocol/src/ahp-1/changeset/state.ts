/** Sets of changed files: their state, and the entry that a session or a chat lists them by. */
import { type Static, Type } from 'typebox';
import { OpenChoice } from '../../schema/define.js';
import { ChangesSummary, ErrorInfo, FileEdit, Meta, StringOrMarkdown } from '../common/types.js';

export const ChangesetCapabilities = Type.Object(
  { review: Type.Optional(Type.Object({}, { description: 'Files can be marked as reviewed.' })) },
  { $id: 'ChangesetCapabilities', description: 'What clients may do with a changeset; an empty object means yes.' },
);
export type ChangesetCapabilities = Static<typeof ChangesetCapabilities>;

export const Changeset = Type.Object(
  {
    label: Type.String(),
    uriTemplate: Type.String({ description: 'The URI of its channel, as an RFC 6570 template.' }),
    description: Type.Optional(Type.String()),
    changeKind: OpenChoice(['session', 'branch', 'uncommitted', 'turn', 'compare-turns'], {
      description: 'Which changes it holds.',
    }),
    capabilities: Type.Optional(ChangesetCapabilities),
    /** Private members: AHP has one total in `SessionSummary.changes`, 0.2.0 has counts for each entry. */
    ...ChangesSummary.properties,
  },
  {
    $id: 'Changeset',
    description: 'An entry in the list of changesets; the URI template expands to its channel.',
  },
);
export type Changeset = Static<typeof Changeset>;

export const ChangesetFile = Type.Object(
  {
    id: Type.String(),
    edit: FileEdit,
    reviewed: Type.Optional(Type.Boolean({ description: 'Whether a person has reviewed it.' })),
    _meta: Type.Optional(Meta),
  },
  { $id: 'ChangesetFile', description: 'One changed file.' },
);
export type ChangesetFile = Static<typeof ChangesetFile>;

export const ChangesetOperationScope = OpenChoice(['changeset', 'resource', 'range'], {
  $id: 'ChangesetOperationScope',
  description: 'What an operation applies to.',
});
export type ChangesetOperationScope = Static<typeof ChangesetOperationScope>;

export const ChangesetOperationStatus = OpenChoice(['idle', 'running', 'error', 'disabled'], {
  $id: 'ChangesetOperationStatus',
  description: 'Whether an operation can be invoked, runs, or has failed.',
});
export type ChangesetOperationStatus = Static<typeof ChangesetOperationStatus>;

export const ChangesetOperation = Type.Object(
  {
    id: Type.String(),
    label: Type.String(),
    description: Type.Optional(Type.String()),
    scopes: Type.Array(ChangesetOperationScope),
    confirmation: Type.Optional(StringOrMarkdown),
    icon: Type.Optional(Type.String({ description: 'The name of an icon.' })),
    group: Type.Optional(Type.String({ description: 'Operations of the same group stand together.' })),
    status: ChangesetOperationStatus,
    error: Type.Optional(ErrorInfo),
  },
  {
    $id: 'ChangesetOperation',
    description: 'An operation on changes; one with a `confirmation` is destructive.',
  },
);
export type ChangesetOperation = Static<typeof ChangesetOperation>;

export const ChangesetStatus = OpenChoice(['computing', 'ready', 'error'], {
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
