import { Type } from 'typebox';
import { ChildCustomization } from './child-customization.js';
import { CustomizationLoadState } from './customization-load-state.js';

/** Members of a container. No `children` means not parsed yet; an empty list means nothing was found. */
export const containerMembers = {
  enabled: Type.Boolean(),
  clientId: Type.Optional(Type.String({ description: 'The client that brought it.' })),
  load: Type.Optional(CustomizationLoadState),
  children: Type.Optional(
    Type.Array(ChildCustomization, { description: 'What is inside. Absent: not read yet. Empty: nothing was found.' }),
  ),
};
