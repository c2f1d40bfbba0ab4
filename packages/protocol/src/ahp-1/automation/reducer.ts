/**
 * How the catalogue of automations and their runs change. Requests change nothing: the host answers them with actions.
 */
import { withMembers } from '../../reducing.js';
import { reducerOf, upserted, withOptional, without } from '../reducing.js';
import type { AutomationActionMap, AutomationRunActionMap } from './actions.js';
import type { AutomationRunState, AutomationState } from './state.js';

const resourceOf = ({ resource }: { resource: string }) => resource;

export const automationReducer = reducerOf<AutomationState, AutomationActionMap>({
  'automation/createRequested': (state) => state,
  'automation/updateRequested': (state) => state,
  'automation/set': (state, { automation }) =>
    withMembers(state, { entries: upserted(state.entries, automation, resourceOf) }),
  'automation/removed': (state, { resource }) =>
    withMembers(state, { entries: without(state.entries, resource, resourceOf) }),
});

export const automationRunReducer = reducerOf<AutomationRunState, AutomationRunActionMap>({
  'automationRun/cancelRequested': (state) => state,
  'automationRun/lifecycleChanged': (state, { lifecycle }) => withMembers(state, { lifecycle }),

  'automationRun/sessionSet': (state, { session }) =>
    state.sessions.includes(session) ? state : { ...state, sessions: [...state.sessions, session] },

  'automationRun/sessionRemoved': (state, { session }) => {
    const sessions = without(state.sessions, session, (other) => other);
    if (sessions === state.sessions) return state;
    const primary = state.primarySession === session ? undefined : state.primarySession;
    return { ...withOptional(state, 'primarySession', primary), sessions };
  },

  'automationRun/primarySessionChanged': (state, { primarySession }) =>
    withOptional(state, 'primarySession', primarySession),
});
