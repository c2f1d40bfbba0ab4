/** The role of active client: one at a time, and nobody speaks for another. */
import type { Rules } from '../rules.js';

export const activeClientRules: Rules = {
  'session/activeClientChanged': ({ activeClient }, { state, clientId }) => {
    const holder = state.activeClient?.clientId;
    if (!activeClient) return holder === clientId ? undefined : 'only the active client can give the role up';
    if (activeClient.clientId !== clientId) return 'a client can claim the role only for itself';
    return holder === undefined || holder === clientId ? undefined : `${holder} is the active client`;
  },

  'session/activeClientToolsChanged': (_action, { state, clientId }) =>
    state.activeClient?.clientId === clientId ? undefined : 'only the active client can change its tools',
};
