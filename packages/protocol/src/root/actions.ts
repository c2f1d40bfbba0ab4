/** The actions of the root channel. */
import { type Static, Type } from 'typebox';
import { MapOf } from '../schema/define.js';
import { TerminalInfo } from '../terminal/state.js';
import { AgentInfo } from './state.js';

export const RootAgentsChangedAction = Type.Object(
  { type: Type.Literal('root/agentsChanged'), agents: Type.Array(AgentInfo) },
  { $id: 'RootAgentsChangedAction', description: 'The available agents, or their models, changed.' },
);
export type RootAgentsChangedAction = Static<typeof RootAgentsChangedAction>;

export const RootActiveSessionsChangedAction = Type.Object(
  {
    type: Type.Literal('root/activeSessionsChanged'),
    activeSessions: Type.Number({ description: 'The number of sessions that are not disposed.' }),
  },
  { $id: 'RootActiveSessionsChangedAction', description: 'The number of sessions changed.' },
);
export type RootActiveSessionsChangedAction = Static<typeof RootActiveSessionsChangedAction>;

export const RootTerminalsChangedAction = Type.Object(
  { type: Type.Literal('root/terminalsChanged'), terminals: Type.Array(TerminalInfo) },
  { $id: 'RootTerminalsChangedAction', description: 'The list of terminals changed; carries all of them.' },
);
export type RootTerminalsChangedAction = Static<typeof RootTerminalsChangedAction>;

export const RootConfigChangedAction = Type.Object(
  {
    type: Type.Literal('root/configChanged'),
    config: MapOf(Type.Unknown(), { description: 'Values by property name.' }),
    replace: Type.Optional(Type.Boolean()),
  },
  {
    $id: 'RootConfigChangedAction',
    description: "Values of the host's configuration were merged, or replaced as a whole.",
  },
);
export type RootConfigChangedAction = Static<typeof RootConfigChangedAction>;

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
