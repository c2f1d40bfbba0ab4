import { type Static, Type } from 'typebox';
import { containerMembers } from './container-members.js';
import { customizationBase } from './customization-base.js';

export const PluginCustomization = Type.Object(
  { type: Type.Literal('plugin'), ...customizationBase, ...containerMembers },
  { $id: 'PluginCustomization', description: 'A plugin and what it brings.' },
);
export type PluginCustomization = Static<typeof PluginCustomization>;
