import { type Static, Type } from 'typebox';

export const CustomizationErrorState = Type.Object(
  { kind: Type.Literal('error'), message: Type.String() },
  { $id: 'CustomizationErrorState', description: 'Not in use, and why.' },
);
export type CustomizationErrorState = Static<typeof CustomizationErrorState>;
