import type { Static } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ProviderPushLevel = Choice(['inject', 'surface', 'keep'], {
  $id: 'ProviderPushLevel',
  description: 'How far an event goes: start a turn, show it, or only store it.',
});
export type ProviderPushLevel = Static<typeof ProviderPushLevel>;
