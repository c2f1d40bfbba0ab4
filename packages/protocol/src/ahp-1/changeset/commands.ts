/** The command that runs an operation of a changeset. */
import { type Static, Type } from 'typebox';
import { ChangesetOperationTarget, InvokeChangesetOperationParams as InvokeParams } from '../../changeset/commands.js';
import { ContentRef, StringOrMarkdown, withRequestMeta } from '../common/types.js';

export { ChangesetOperationTarget };

export const InvokeChangesetOperationParams = withRequestMeta(InvokeParams);
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
