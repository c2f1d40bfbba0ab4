import type { Static } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ResourceChangeType = Choice(['added', 'updated', 'deleted'], {
  $id: 'ResourceChangeType',
  description: 'What happened to a resource.',
});
export type ResourceChangeType = Static<typeof ResourceChangeType>;
