/** How root state changes. */
import { withMembers, withValues } from '../../reducing.js';
import { reducerOf } from '../reducing.js';
import type { RootActionMap } from './actions.js';
import type { RootState } from './state.js';

export const rootReducer = reducerOf<RootState, RootActionMap>({
  'root/agentsChanged': (state, { agents }) => withMembers(state, { agents }),
  'root/activeSessionsChanged': (state, { activeSessions }) => withMembers(state, { activeSessions }),
  'root/terminalsChanged': (state, { terminals }) => withMembers(state, { terminals }),
  'root/configChanged': (state, action) =>
    state.config ? withMembers(state, { config: withValues(state.config, action) }) : state,
});
