import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const ToolResultSubagentContent = Type.Object(
  {
    type: Type.Literal('subagent'),
    resource: URI,
    title: Type.String(),
    agentName: Type.Optional(Type.String({ description: 'The agent that works there.' })),
    description: Type.Optional(Type.String()),
  },
  { $id: 'ToolResultSubagentContent', description: 'The session of a subagent that a tool started.' },
);
export type ToolResultSubagentContent = Static<typeof ToolResultSubagentContent>;
