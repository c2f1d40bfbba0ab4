import type { Static } from 'typebox';
import { Choice } from '../../schema/define.js';

export const PendingMessageKind = Choice(['steering', 'queued'], {
  $id: 'PendingMessageKind',
  description: 'Whether a waiting message steers the running turn or starts the next one.',
});
export type PendingMessageKind = Static<typeof PendingMessageKind>;
