import type { Static } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ToolCallConfirmationReason = Choice(['not-needed', 'user-action', 'setting'], {
  $id: 'ToolCallConfirmationReason',
  description: 'Why a call was allowed to run.',
});
export type ToolCallConfirmationReason = Static<typeof ToolCallConfirmationReason>;
