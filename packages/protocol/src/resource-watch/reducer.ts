/** A watch has no history: its state never changes, and subscribers read the changes from the actions. */
import { reducerOf } from '../reducing.js';
import type { ResourceWatchActionMap } from './actions.js';
import type { ResourceWatchState } from './state.js';

export const resourceWatchReducer = reducerOf<ResourceWatchState, ResourceWatchActionMap>({
  'resourceWatch/changed': (state) => state,
});
