import { type Static, Type } from 'typebox';
import { AgentSelection } from '../../common/agent-selection.js';

export const SessionAgentChangedAction = Type.Object(
  { type: Type.Literal('session/agentChanged'), agent: Type.Optional(AgentSelection) },
  {
    $id: 'SessionAgentChangedAction',
    description: "Later turns use this custom agent; without one, the provider's default.",
  },
);
export type SessionAgentChangedAction = Static<typeof SessionAgentChangedAction>;
