/** The actions of a terminal: those of the older model, with this model's claim. */
import { type Static, Type } from 'typebox';
import { terminalActions as unchangedActions } from '../../terminal/actions.js';
import { TerminalClaim } from './state.js';

export {
  TerminalClearedAction,
  TerminalCommandDetectionAvailableAction,
  TerminalCommandExecutedAction,
  TerminalCommandFinishedAction,
  TerminalCwdChangedAction,
  TerminalDataAction,
  TerminalExitedAction,
  TerminalInputAction,
  TerminalResizedAction,
  TerminalTitleChangedAction,
} from '../../terminal/actions.js';

export const TerminalClaimedAction = Type.Object(
  { type: Type.Literal('terminal/claimed'), claim: TerminalClaim },
  { $id: 'TerminalClaimedAction', description: 'The terminal has a new owner.' },
);
export type TerminalClaimedAction = Static<typeof TerminalClaimedAction>;

/** Every action of the terminal channel, by its type. */
export const terminalActions = { ...unchangedActions, 'terminal/claimed': TerminalClaimedAction } as const;

export type TerminalActionType = keyof typeof terminalActions;
export type TerminalActionMap = { [Type in TerminalActionType]: Static<(typeof terminalActions)[Type]> };
export type TerminalAction = TerminalActionMap[TerminalActionType];
