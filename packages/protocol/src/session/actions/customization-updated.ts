import { type Static, Type } from 'typebox';
import { Customization } from '../state/customization.js';

export const SessionCustomizationUpdatedAction = Type.Object(
  { type: Type.Literal('session/customizationUpdated'), customization: Customization },
  { $id: 'SessionCustomizationUpdatedAction', description: 'One container, whole, with its children.' },
);
export type SessionCustomizationUpdatedAction = Static<typeof SessionCustomizationUpdatedAction>;
