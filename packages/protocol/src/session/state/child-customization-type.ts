import type { Static } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ChildCustomizationType = Choice(['agent', 'skill', 'prompt', 'rule', 'hook', 'mcpServer'], {
  $id: 'ChildCustomizationType',
  description: 'What a customization directory may hold.',
});
export type ChildCustomizationType = Static<typeof ChildCustomizationType>;
