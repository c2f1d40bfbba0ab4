import { type Static, Type } from 'typebox';
import { ProtectedResourceMetadata } from '../../common/protected-resource-metadata.js';
import { Customization } from '../../session/state/customization.js';
import { SessionModelInfo } from './session-model-info.js';
import { SystemMessageSection } from './system-message-section.js';

export const AgentInfo = Type.Object(
  {
    provider: Type.String(),
    displayName: Type.String(),
    description: Type.String(),
    models: Type.Array(SessionModelInfo),
    protectedResources: Type.Optional(Type.Array(ProtectedResourceMetadata)),
    customizations: Type.Optional(Type.Array(Customization)),
    systemMessageSections: Type.Optional(Type.Array(SystemMessageSection)),
  },
  { $id: 'AgentInfo', description: 'An agent backend that sessions can run on.' },
);
export type AgentInfo = Static<typeof AgentInfo>;
