/** How the session is set up: configuration, metadata, tools, the active client. */
import { withValues } from '../../common/config-values.js';
import { withMembers } from '../../reducing.js';
import type { SessionHandlers } from './family.js';

export const settingHandlers: SessionHandlers<
  | 'session/configChanged'
  | 'session/metaChanged'
  | 'session/serverToolsChanged'
  | 'session/activeClientChanged'
  | 'session/activeClientToolsChanged'
> = {
  'session/configChanged': (state, action, { now }) => {
    if (!state.config) return state;
    return {
      ...state,
      config: withValues(state.config, action),
      summary: { ...state.summary, modifiedAt: now },
    };
  },

  'session/metaChanged': (state, { _meta }) => withMembers(state, { _meta }),

  'session/serverToolsChanged': (state, { tools }) => withMembers(state, { serverTools: tools }),

  'session/activeClientChanged': (state, { activeClient }) =>
    withMembers(state, { activeClient: activeClient ?? undefined }),

  'session/activeClientToolsChanged': (state, { tools }) =>
    state.activeClient ? withMembers(state, { activeClient: withMembers(state.activeClient, { tools }) }) : state,
};
