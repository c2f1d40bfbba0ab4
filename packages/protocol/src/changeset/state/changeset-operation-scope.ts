import type { Static } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ChangesetOperationScope = Choice(['changeset', 'resource', 'range'], {
  $id: 'ChangesetOperationScope',
  description: 'What an operation can be applied to.',
});
export type ChangesetOperationScope = Static<typeof ChangesetOperationScope>;
