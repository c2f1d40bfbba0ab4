import type { Static } from 'typebox';
import { RootActiveSessionsChangedAction } from './actions/active-sessions-changed.js';
import { RootAgentsChangedAction } from './actions/agents-changed.js';
import { RootConfigChangedAction } from './actions/config-changed.js';
import { RootTerminalsChangedAction } from './actions/terminals-changed.js';

/** Every action of the root channel, by its type. */
export const rootActions = {
  'root/agentsChanged': RootAgentsChangedAction,
  'root/activeSessionsChanged': RootActiveSessionsChangedAction,
  'root/terminalsChanged': RootTerminalsChangedAction,
  'root/configChanged': RootConfigChangedAction,
} as const;

export type RootActionType = keyof typeof rootActions;
export type RootActionMap = { [Type in RootActionType]: Static<(typeof rootActions)[Type]> };
export type RootAction = RootActionMap[RootActionType];
