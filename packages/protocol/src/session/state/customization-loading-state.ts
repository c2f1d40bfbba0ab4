import { type Static, Type } from 'typebox';

export const CustomizationLoadingState = Type.Object(
  { kind: Type.Literal('loading') },
  { $id: 'CustomizationLoadingState', description: 'Being read.' },
);
export type CustomizationLoadingState = Static<typeof CustomizationLoadingState>;
