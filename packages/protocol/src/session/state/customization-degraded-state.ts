import { type Static, Type } from 'typebox';

export const CustomizationDegradedState = Type.Object(
  { kind: Type.Literal('degraded'), message: Type.String() },
  { $id: 'CustomizationDegradedState', description: 'In use, but not all of it.' },
);
export type CustomizationDegradedState = Static<typeof CustomizationDegradedState>;
