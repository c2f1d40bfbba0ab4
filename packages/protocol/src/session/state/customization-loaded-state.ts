import { type Static, Type } from 'typebox';

export const CustomizationLoadedState = Type.Object(
  { kind: Type.Literal('loaded') },
  { $id: 'CustomizationLoadedState', description: 'In use.' },
);
export type CustomizationLoadedState = Static<typeof CustomizationLoadedState>;
