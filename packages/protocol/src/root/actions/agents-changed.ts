import { type Static, Type } from 'typebox';
import { AgentInfo } from '../state/agent-info.js';

export const RootAgentsChangedAction = Type.Object(
  { type: Type.Literal('root/agentsChanged'), agents: Type.Array(AgentInfo) },
  { $id: 'RootAgentsChangedAction', description: 'The available agents, or their models, changed.' },
);
export type RootAgentsChangedAction = Static<typeof RootAgentsChangedAction>;
