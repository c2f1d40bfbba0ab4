import type { Static } from 'typebox';
import { Choice } from '../../schema/define.js';

export const PolicyState = Choice(['enabled', 'disabled', 'unconfigured'], {
  $id: 'PolicyState',
  description: 'Whether policy lets a model be used.',
});
export type PolicyState = Static<typeof PolicyState>;
