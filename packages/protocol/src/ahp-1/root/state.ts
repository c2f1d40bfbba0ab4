/** The state of the root channel: agents and their models, terminals, configuration of the host. */
import { type Static, Type } from 'typebox';
import { ProtectedResourceMetadata } from '../../root/authentication.js';
import { SystemMessageSection } from '../../root/state.js';
import { OpenChoice } from '../../schema/define.js';
import { ConfigSchema, RootConfigState } from '../common/config.js';
import { Meta } from '../common/types.js';
import { Customization } from '../session/customizations.js';
import { TerminalInfo } from '../terminal/state.js';

export { ProtectedResourceMetadata, SystemMessageSection };

export const PolicyState = OpenChoice(['enabled', 'disabled', 'unconfigured'], {
  $id: 'PolicyState',
  description: 'Whether policy allows a model.',
});
export type PolicyState = Static<typeof PolicyState>;

export const SessionModelInfo = Type.Object(
  {
    id: Type.String(),
    provider: Type.String(),
    name: Type.String(),
    maxContextWindow: Type.Optional(Type.Number({ description: 'In tokens.' })),
    maxOutputTokens: Type.Optional(Type.Number()),
    maxPromptTokens: Type.Optional(Type.Number()),
    supportsVision: Type.Optional(Type.Boolean({ description: 'Whether the model accepts images.' })),
    policyState: Type.Optional(PolicyState),
    configSchema: Type.Optional(ConfigSchema),
    _meta: Type.Optional(Meta),
  },
  { $id: 'SessionModelInfo', description: 'A model that an agent can use.' },
);
export type SessionModelInfo = Static<typeof SessionModelInfo>;

export const MultipleChatsCapability = Type.Object(
  {
    fork: Type.Optional(Type.Boolean({ description: 'Whether a chat can begin as a copy of another one.' })),
    sideChat: Type.Optional(Type.Boolean({ description: 'Whether a chat can know the history of another one.' })),
  },
  { $id: 'MultipleChatsCapability', description: 'Clients may open more chats in a session.' },
);
export type MultipleChatsCapability = Static<typeof MultipleChatsCapability>;

export const MultipleWorkingDirectoriesCapability = Type.Object(
  {
    immutablePrimary: Type.Optional(Type.Boolean({ description: 'Whether the first folder must stay the first.' })),
    primaryReplacement: Type.Optional(Type.Boolean({ description: 'Whether the first folder can be replaced.' })),
  },
  { $id: 'MultipleWorkingDirectoriesCapability', description: 'A session can work in several folders.' },
);
export type MultipleWorkingDirectoriesCapability = Static<typeof MultipleWorkingDirectoriesCapability>;

export const AgentCapabilities = Type.Object(
  {
    multipleChats: Type.Optional(MultipleChatsCapability),
    multipleWorkingDirectories: Type.Optional(MultipleWorkingDirectoriesCapability),
  },
  { $id: 'AgentCapabilities', description: 'What an agent can do; absent members mean that it cannot.' },
);
export type AgentCapabilities = Static<typeof AgentCapabilities>;

export const AgentInfo = Type.Object(
  {
    provider: Type.String(),
    displayName: Type.String(),
    description: Type.String(),
    models: Type.Array(SessionModelInfo),
    protectedResources: Type.Optional(Type.Array(ProtectedResourceMetadata)),
    customizations: Type.Optional(Type.Array(Customization)),
    capabilities: Type.Optional(AgentCapabilities),
    /** Private member: Atrium's extension. */
    systemMessageSections: Type.Optional(Type.Array(SystemMessageSection)),
  },
  { $id: 'AgentInfo', description: 'An agent backend that sessions can run on.' },
);
export type AgentInfo = Static<typeof AgentInfo>;

export const RootState = Type.Object(
  {
    agents: Type.Array(AgentInfo),
    activeSessions: Type.Optional(Type.Number({ description: 'The number of sessions that are not disposed.' })),
    terminals: Type.Optional(Type.Array(TerminalInfo)),
    config: Type.Optional(RootConfigState),
    _meta: Type.Optional(Meta),
  },
  { $id: 'RootState', description: 'What every client may know without opening a session.' },
);
export type RootState = Static<typeof RootState>;
