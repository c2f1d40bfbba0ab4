import { type Static, Type } from 'typebox';
import { containerMembers } from './container-members.js';
import { customizationBase } from './customization-base.js';

export const ClientPluginCustomization = Type.Object(
  {
    type: Type.Literal('plugin'),
    ...customizationBase,
    ...containerMembers,
    nonce: Type.Optional(Type.String({ description: 'Changes whenever the content does.' })),
  },
  {
    $id: 'ClientPluginCustomization',
    description: 'A plugin that a client contributes; the nonce changes when its content does.',
  },
);
export type ClientPluginCustomization = Static<typeof ClientPluginCustomization>;
