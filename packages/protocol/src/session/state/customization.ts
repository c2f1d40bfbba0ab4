import type { Static } from 'typebox';
import { OpenUnion } from '../../schema/define.js';
import { DirectoryCustomization } from './directory-customization.js';
import { PluginCustomization } from './plugin-customization.js';

export const Customization = OpenUnion('type', [PluginCustomization, DirectoryCustomization], {
  $id: 'Customization',
  description: 'A top-level customization: a container, or (open content) a bare entry.',
});
export type Customization = Static<typeof Customization>;
