import { type Static, Type } from 'typebox';
import { ProviderToolDefinition } from '../parts/tool-definition.js';
import { updateMembers } from '../parts/update-members.js';

export const ProviderToolsUpdateMessage = Type.Object(
  {
    type: Type.Literal('tools.update'),
    ...updateMembers,
    tools: Type.Optional(Type.Array(ProviderToolDefinition)),
    remove: Type.Optional(Type.Array(Type.String(), { description: 'Names. Applied before `tools`.' })),
  },
  {
    $id: 'ProviderToolsUpdateMessage',
    description: 'Removes tools, then adds or replaces others by name; the rest stay.',
  },
);
export type ProviderToolsUpdateMessage = Static<typeof ProviderToolsUpdateMessage>;
