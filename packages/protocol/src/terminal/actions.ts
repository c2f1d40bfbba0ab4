/** The actions of a terminal. */
import { type Static, Type } from 'typebox';
import { URI } from '../common/types.js';
import { TerminalClaim } from './state.js';

export const TerminalDataAction = Type.Object(
  {
    type: Type.Literal('terminal/data'),
    data: Type.String({ description: 'Text, with the escape sequences of a terminal.' }),
  },
  { $id: 'TerminalDataAction', description: 'Output of the process.' },
);
export type TerminalDataAction = Static<typeof TerminalDataAction>;

export const TerminalInputAction = Type.Object(
  {
    type: Type.Literal('terminal/input'),
    data: Type.String({ description: 'Text, with the escape sequences of keys.' }),
  },
  { $id: 'TerminalInputAction', description: 'Input for the process.' },
);
export type TerminalInputAction = Static<typeof TerminalInputAction>;

export const TerminalResizedAction = Type.Object(
  { type: Type.Literal('terminal/resized'), cols: Type.Number(), rows: Type.Number() },
  { $id: 'TerminalResizedAction', description: 'The terminal has a new size.' },
);
export type TerminalResizedAction = Static<typeof TerminalResizedAction>;

export const TerminalClaimedAction = Type.Object(
  { type: Type.Literal('terminal/claimed'), claim: TerminalClaim },
  { $id: 'TerminalClaimedAction', description: 'The terminal has a new owner.' },
);
export type TerminalClaimedAction = Static<typeof TerminalClaimedAction>;

export const TerminalTitleChangedAction = Type.Object(
  { type: Type.Literal('terminal/titleChanged'), title: Type.String() },
  { $id: 'TerminalTitleChangedAction', description: 'The terminal has a new title.' },
);
export type TerminalTitleChangedAction = Static<typeof TerminalTitleChangedAction>;

export const TerminalCwdChangedAction = Type.Object(
  { type: Type.Literal('terminal/cwdChanged'), cwd: URI },
  { $id: 'TerminalCwdChangedAction', description: 'The working directory of the shell changed.' },
);
export type TerminalCwdChangedAction = Static<typeof TerminalCwdChangedAction>;

export const TerminalExitedAction = Type.Object(
  { type: Type.Literal('terminal/exited'), exitCode: Type.Optional(Type.Number()) },
  { $id: 'TerminalExitedAction', description: 'The process ended.' },
);
export type TerminalExitedAction = Static<typeof TerminalExitedAction>;

export const TerminalClearedAction = Type.Object(
  { type: Type.Literal('terminal/cleared') },
  { $id: 'TerminalClearedAction', description: 'The screen and its history were cleared.' },
);
export type TerminalClearedAction = Static<typeof TerminalClearedAction>;

export const TerminalCommandDetectionAvailableAction = Type.Object(
  { type: Type.Literal('terminal/commandDetectionAvailable') },
  { $id: 'TerminalCommandDetectionAvailableAction', description: 'From now on the output is divided by command.' },
);
export type TerminalCommandDetectionAvailableAction = Static<typeof TerminalCommandDetectionAvailableAction>;

export const TerminalCommandExecutedAction = Type.Object(
  {
    type: Type.Literal('terminal/commandExecuted'),
    commandId: Type.String(),
    commandLine: Type.String(),
    timestamp: Type.Number(),
  },
  { $id: 'TerminalCommandExecutedAction', description: 'A command started; output belongs to it until it ends.' },
);
export type TerminalCommandExecutedAction = Static<typeof TerminalCommandExecutedAction>;

export const TerminalCommandFinishedAction = Type.Object(
  {
    type: Type.Literal('terminal/commandFinished'),
    commandId: Type.String(),
    exitCode: Type.Optional(Type.Number()),
    durationMs: Type.Optional(Type.Number()),
  },
  { $id: 'TerminalCommandFinishedAction', description: 'A command ended.' },
);
export type TerminalCommandFinishedAction = Static<typeof TerminalCommandFinishedAction>;

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
