import type { Static } from 'typebox';
import { Choice } from '../../schema/define.js';

export const TurnState = Choice(['complete', 'cancelled', 'error'], {
  $id: 'TurnState',
  description: 'How a turn ended.',
});
export type TurnState = Static<typeof TurnState>;
