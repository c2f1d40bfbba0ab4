import type { Static } from 'typebox';
import { TerminalClaimedAction } from './actions/claimed.js';
import { TerminalClearedAction } from './actions/cleared.js';
import { TerminalCommandDetectionAvailableAction } from './actions/command-detection-available.js';
import { TerminalCommandExecutedAction } from './actions/command-executed.js';
import { TerminalCommandFinishedAction } from './actions/command-finished.js';
import { TerminalCwdChangedAction } from './actions/cwd-changed.js';
import { TerminalDataAction } from './actions/data.js';
import { TerminalExitedAction } from './actions/exited.js';
import { TerminalInputAction } from './actions/input.js';
import { TerminalResizedAction } from './actions/resized.js';
import { TerminalTitleChangedAction } from './actions/title-changed.js';

/** Every action of the terminal channel, by its type. */
export const terminalActions = {
  'terminal/data': TerminalDataAction,
  'terminal/input': TerminalInputAction,
  'terminal/resized': TerminalResizedAction,
  'terminal/claimed': TerminalClaimedAction,
  'terminal/titleChanged': TerminalTitleChangedAction,
  'terminal/cwdChanged': TerminalCwdChangedAction,
  'terminal/exited': TerminalExitedAction,
  'terminal/cleared': TerminalClearedAction,
  'terminal/commandDetectionAvailable': TerminalCommandDetectionAvailableAction,
  'terminal/commandExecuted': TerminalCommandExecutedAction,
  'terminal/commandFinished': TerminalCommandFinishedAction,
} as const;

export type TerminalActionType = keyof typeof terminalActions;
export type TerminalActionMap = { [Type in TerminalActionType]: Static<(typeof terminalActions)[Type]> };
export type TerminalAction = TerminalActionMap[TerminalActionType];
