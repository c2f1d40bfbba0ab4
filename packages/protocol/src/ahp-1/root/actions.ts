/** The actions of the root channel. */
import { type Static, Type } from 'typebox';
import { RootActiveSessionsChangedAction, RootConfigChangedAction } from '../../root/actions.js';
import { TerminalInfo } from '../terminal/state.js';
import { AgentInfo } from './state.js';

export { RootActiveSessionsChangedAction, RootConfigChangedAction };

export const RootAgentsChangedAction = Type.Object(
  { type: Type.Literal('root/agentsChanged'), agents: Type.Array(AgentInfo) },
  { $id: 'RootAgentsChangedAction', description: 'The available agents, or their models, changed.' },
);
export type RootAgentsChangedAction = Static<typeof RootAgentsChangedAction>;

export const RootTerminalsChangedAction = Type.Object(
  { type: Type.Literal('root/terminalsChanged'), terminals: Type.Array(TerminalInfo) },
  { $id: 'RootTerminalsChangedAction', description: 'The list of terminals changed; carries all of them.' },
);
export type RootTerminalsChangedAction = Static<typeof RootTerminalsChangedAction>;

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
