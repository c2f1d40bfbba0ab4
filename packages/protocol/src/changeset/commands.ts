/** The command that applies an operation to a changeset. */
import { type Static, Type } from 'typebox';
import { ContentRef, StringOrMarkdown, TextRange, URI } from '../common/types.js';
import { Choice } from '../schema/define.js';

export const ChangesetOperationResourceTarget = Type.Object(
  { kind: Type.Literal('resource'), resource: URI, side: Type.Optional(Choice(['before', 'after'])) },
  { $id: 'ChangesetOperationResourceTarget', description: 'One file.' },
);
export type ChangesetOperationResourceTarget = Static<typeof ChangesetOperationResourceTarget>;

export const ChangesetOperationRangeTarget = Type.Object(
  { kind: Type.Literal('range'), resource: URI, side: Type.Optional(Choice(['before', 'after'])), range: TextRange },
  { $id: 'ChangesetOperationRangeTarget', description: 'Part of one file.' },
);
export type ChangesetOperationRangeTarget = Static<typeof ChangesetOperationRangeTarget>;

export const ChangesetOperationTarget = Type.Union([ChangesetOperationResourceTarget, ChangesetOperationRangeTarget], {
  $id: 'ChangesetOperationTarget',
  description: 'What an operation acts on; absent for the whole changeset.',
});
export type ChangesetOperationTarget = Static<typeof ChangesetOperationTarget>;

export const InvokeChangesetOperationParams = Type.Object(
  {
    channel: URI,
    operationId: Type.String({ description: 'One of the operations in the state.' }),
    target: Type.Optional(ChangesetOperationTarget),
  },
  { $id: 'InvokeChangesetOperationParams', description: "Runs one of the changeset's operations." },
);
export type InvokeChangesetOperationParams = Static<typeof InvokeChangesetOperationParams>;

export const ChangesetOperationFollowUp = Type.Object(
  {
    content: ContentRef,
    external: Type.Optional(Type.Boolean({ description: 'Whether to open it outside of the client.' })),
  },
  { $id: 'ChangesetOperationFollowUp', description: 'Something to show after the operation.' },
);
export type ChangesetOperationFollowUp = Static<typeof ChangesetOperationFollowUp>;

export const InvokeChangesetOperationResult = Type.Object(
  { message: Type.Optional(StringOrMarkdown), followUp: Type.Optional(ChangesetOperationFollowUp) },
  {
    $id: 'InvokeChangesetOperationResult',
    description: 'The operation was accepted; its effects arrive as actions.',
  },
);
export type InvokeChangesetOperationResult = Static<typeof InvokeChangesetOperationResult>;
