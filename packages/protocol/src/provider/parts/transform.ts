import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';
import { STATIC_TRANSFORM_ACTIONS } from './transform-action.js';

export const ProviderStaticTransform = Type.Object(
  {
    action: Choice(STATIC_TRANSFORM_ACTIONS, { description: 'Where `content` goes.' }),
    content: Type.String({ description: 'The text.' }),
  },
  { $id: 'ProviderStaticTransform', description: 'A fixed change of one section of the system prompt.' },
);
export type ProviderStaticTransform = Static<typeof ProviderStaticTransform>;

export const ProviderCallbackTransform = Type.Object(
  { action: Type.Literal('callback') },
  { $id: 'ProviderCallbackTransform', description: 'The provider is asked for the section when a prompt is sent.' },
);
export type ProviderCallbackTransform = Static<typeof ProviderCallbackTransform>;

export const ProviderTransform = Type.Union([ProviderStaticTransform, ProviderCallbackTransform], {
  $id: 'ProviderTransform',
  description: 'How a provider changes one section of the system prompt.',
});
export type ProviderTransform = Static<typeof ProviderTransform>;
