import { type Static, Type } from 'typebox';
import { ChildCustomizationType } from './child-customization-type.js';
import { containerMembers } from './container-members.js';
import { customizationBase } from './customization-base.js';

export const DirectoryCustomization = Type.Object(
  {
    type: Type.Literal('directory'),
    ...customizationBase,
    ...containerMembers,
    contents: ChildCustomizationType,
    writable: Type.Boolean({ description: 'Whether clients may save files into it.' }),
  },
  { $id: 'DirectoryCustomization', description: 'A folder of customizations of one type.' },
);
export type DirectoryCustomization = Static<typeof DirectoryCustomization>;
