/** The reducer of each kind of channel that has a state. */
import { annotationsReducer } from './annotations/reducer.js';
import { automationReducer, automationRunReducer } from './automation/reducer.js';
import { canvasReducer } from './canvas/reducer.js';
import { changesetReducer } from './changeset/reducer.js';
import { chatReducer } from './chat/reducer.js';
import { resourceWatchReducer } from './resource-watch/reducer.js';
import { rootReducer } from './root/reducer.js';
import { sessionReducer } from './session/reducer.js';
import { terminalReducer } from './terminal/reducer.js';

export const reducers = {
  root: rootReducer,
  session: sessionReducer,
  chat: chatReducer,
  terminal: terminalReducer,
  changeset: changesetReducer,
  annotations: annotationsReducer,
  automation: automationReducer,
  automationRun: automationRunReducer,
  canvas: canvasReducer,
  resourceWatch: resourceWatchReducer,
} as const;
