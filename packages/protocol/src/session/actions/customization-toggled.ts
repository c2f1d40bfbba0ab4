import { type Static, Type } from 'typebox';

export const SessionCustomizationToggledAction = Type.Object(
  { type: Type.Literal('session/customizationToggled'), id: Type.String(), enabled: Type.Boolean() },
  { $id: 'SessionCustomizationToggledAction', description: 'A container was switched on or off.' },
);
export type SessionCustomizationToggledAction = Static<typeof SessionCustomizationToggledAction>;
