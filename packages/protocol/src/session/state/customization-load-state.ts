import { type Static, Type } from 'typebox';
import { CustomizationDegradedState } from './customization-degraded-state.js';
import { CustomizationErrorState } from './customization-error-state.js';
import { CustomizationLoadedState } from './customization-loaded-state.js';
import { CustomizationLoadingState } from './customization-loading-state.js';

export const CustomizationLoadState = Type.Union(
  [CustomizationLoadingState, CustomizationLoadedState, CustomizationDegradedState, CustomizationErrorState],
  { $id: 'CustomizationLoadState', description: 'How far a customization has come.' },
);
export type CustomizationLoadState = Static<typeof CustomizationLoadState>;
