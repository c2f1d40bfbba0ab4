import { Type } from 'typebox';
import { ChildCustomization } from './child-customization.js';
import { CustomizationLoadState } from './customization-load-state.js';

/** Members of a container. No `children` means not parsed yet; an empty list means nothing was found. */
export const containerMembers = {
  enabled: Type.Boolean(),
  clientId: Type.Optional(Type.String()),
  load: Type.Optional(CustomizationLoadState),
  children: Type.Optional(Type.Array(ChildCustomization)),
};
