import type { Static } from 'typebox';
import { Choice } from '../../schema/define.js';

export const SessionLifecycle = Choice(['creating', 'ready', 'creationFailed'], {
  $id: 'SessionLifecycle',
  description: 'Where a session is between request and readiness.',
});
export type SessionLifecycle = Static<typeof SessionLifecycle>;
