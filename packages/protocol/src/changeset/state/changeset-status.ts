import type { Static } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ChangesetStatus = Choice(['computing', 'ready', 'error'], {
  $id: 'ChangesetStatus',
  description: 'Whether the list of changes can be trusted yet.',
});
export type ChangesetStatus = Static<typeof ChangesetStatus>;
