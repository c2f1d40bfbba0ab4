import { type Static, Type } from 'typebox';

export const SessionCustomizationRemovedAction = Type.Object(
  { type: Type.Literal('session/customizationRemoved'), id: Type.String() },
  { $id: 'SessionCustomizationRemovedAction', description: 'A container or one child is gone.' },
);
export type SessionCustomizationRemovedAction = Static<typeof SessionCustomizationRemovedAction>;
