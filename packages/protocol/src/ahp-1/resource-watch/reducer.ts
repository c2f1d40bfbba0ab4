/** A watch has no history: its state never changes, and subscribers read the changes from the actions. */
import type { ResourceWatchActionMap } from '../../resource-watch/actions.js';
import type { ResourceWatchState } from '../../resource-watch/state.js';
import { reducerOf } from '../reducing.js';

export const resourceWatchReducer = reducerOf<ResourceWatchState, ResourceWatchActionMap>({
  'resourceWatch/changed': (state) => state,
});
