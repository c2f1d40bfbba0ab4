import type { Static } from 'typebox';
import { Choice } from '../../schema/define.js';

export const SessionInputResponseKind = Choice(['accept', 'decline', 'cancel'], {
  $id: 'SessionInputResponseKind',
  description: 'How a person ended an input request.',
});
export type SessionInputResponseKind = Static<typeof SessionInputResponseKind>;
