/** How a session changes. Each family of actions has a file of its own; this is their sum. */
import { reducerOf } from '../reducing.js';
import type { SessionActionMap } from './actions.js';
import { customizationHandlers } from './reducers/customizations.js';
import { inputHandlers } from './reducers/input.js';
import { pendingMessageHandlers } from './reducers/pending-messages.js';
import { settingHandlers } from './reducers/settings.js';
import { streamHandlers } from './reducers/stream.js';
import { summaryHandlers } from './reducers/summary.js';
import { toolCallHandlers } from './reducers/tool-calls.js';
import { turnHandlers } from './reducers/turns.js';
import type { SessionState } from './state/session-state.js';

export const sessionReducer = reducerOf<SessionState, SessionActionMap>({
  ...turnHandlers,
  ...streamHandlers,
  ...toolCallHandlers,
  ...pendingMessageHandlers,
  ...inputHandlers,
  ...summaryHandlers,
  ...settingHandlers,
  ...customizationHandlers,
});
