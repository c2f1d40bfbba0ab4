import { type Static, Type } from 'typebox';
import { ClientPluginCustomization } from './client-plugin-customization.js';
import { SystemMessageTransformOptIn } from './system-message-transform-opt-in.js';
import { ToolDefinition } from './tool-definition.js';

export const SessionActiveClient = Type.Object(
  {
    clientId: Type.String(),
    displayName: Type.Optional(Type.String()),
    tools: Type.Array(ToolDefinition),
    customizations: Type.Optional(Type.Array(ClientPluginCustomization)),
    systemMessageTransform: Type.Optional(SystemMessageTransformOptIn),
  },
  { $id: 'SessionActiveClient', description: 'The one client that lends its tools to a session.' },
);
export type SessionActiveClient = Static<typeof SessionActiveClient>;
