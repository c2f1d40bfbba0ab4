/** The state behind each kind of channel. */
import { ResourceWatchState } from '../resource-watch/state.js';
import { AnnotationsState } from './annotations/state.js';
import { AutomationRunState, AutomationState } from './automation/state.js';
import { CanvasState } from './canvas/state.js';
import { ChangesetState } from './changeset/state.js';
import { ChatState } from './chat/state.js';
import { RootState } from './root/state.js';
import { SessionState } from './session/state.js';
import { TerminalState } from './terminal/state.js';

export const channelStates = {
  root: RootState,
  session: SessionState,
  chat: ChatState,
  terminal: TerminalState,
  changeset: ChangesetState,
  annotations: AnnotationsState,
  automation: AutomationState,
  automationRun: AutomationRunState,
  canvas: CanvasState,
  resourceWatch: ResourceWatchState,
} as const;
