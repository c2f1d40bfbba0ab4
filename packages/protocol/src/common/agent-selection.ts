import { type Static, Type } from 'typebox';
import { URI } from './uri.js';

export const AgentSelection = Type.Object(
  { uri: URI },
  {
    $id: 'AgentSelection',
    description: 'A custom agent, named by the `uri` of an agent customization of the session.',
  },
);
export type AgentSelection = Static<typeof AgentSelection>;
