import { type Static, Type } from 'typebox';
import { MapOf } from '../../schema/define.js';
import { ProviderHookRule } from '../parts/hook-rule.js';
import { ProviderTransform } from '../parts/transform.js';
import { updateMembers } from '../parts/update-members.js';

export const ProviderHooksUpdateMessage = Type.Object(
  {
    type: Type.Literal('hooks.update'),
    ...updateMembers,
    onPreToolUse: Type.Optional(
      Type.Array(ProviderHookRule, { description: 'The whole new list; absent leaves the rules as they are.' }),
    ),
    transforms: Type.Optional(
      MapOf(Type.Union([ProviderTransform, Type.Null()]), { description: 'Merged by section; null removes one.' }),
    ),
  },
  { $id: 'ProviderHooksUpdateMessage', description: 'Replaces the hook rules and merges the prompt changes.' },
);
export type ProviderHooksUpdateMessage = Static<typeof ProviderHooksUpdateMessage>;
