import type { Static } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ToolCallCancellationReason = Choice(['denied', 'skipped', 'result-denied'], {
  $id: 'ToolCallCancellationReason',
  description: 'Why a call did not run to its end.',
});
export type ToolCallCancellationReason = Static<typeof ToolCallCancellationReason>;
