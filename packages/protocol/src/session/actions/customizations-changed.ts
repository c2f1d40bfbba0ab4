import { type Static, Type } from 'typebox';
import { Customization } from '../state/customization.js';

export const SessionCustomizationsChangedAction = Type.Object(
  { type: Type.Literal('session/customizationsChanged'), customizations: Type.Array(Customization) },
  { $id: 'SessionCustomizationsChangedAction', description: 'All customizations of the session.' },
);
export type SessionCustomizationsChangedAction = Static<typeof SessionCustomizationsChangedAction>;
