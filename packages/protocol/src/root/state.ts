/** The state of the root channel: agents and their models, terminals, configuration of the host. */
import { type Static, Type } from 'typebox';
import { ConfigSchema, RootConfigState } from '../common/config.js';
import { Meta } from '../common/types.js';
import { Choice } from '../schema/define.js';
import { Customization } from '../session/customizations.js';
import { TerminalInfo } from '../terminal/state.js';
import { ProtectedResourceMetadata } from './authentication.js';

export const PolicyState = Choice(['enabled', 'disabled', 'unconfigured'], {
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
    supportsVision: Type.Optional(Type.Boolean({ description: 'Whether the model accepts images.' })),
    policyState: Type.Optional(PolicyState),
    configSchema: Type.Optional(ConfigSchema),
    _meta: Type.Optional(Meta),
  },
  { $id: 'SessionModelInfo', description: 'A model that an agent can use.' },
);
export type SessionModelInfo = Static<typeof SessionModelInfo>;

export const SystemMessageSection = Type.Object(
  {
    id: Type.String(),
    label: Type.String(),
    description: Type.Optional(Type.String()),
    restricted: Type.Optional(Type.Boolean({ description: 'Whether the host refuses to rewrite it.' })),
  },
  { $id: 'SystemMessageSection', description: "One section of an agent's system prompt, as its catalogue names it." },
);
export type SystemMessageSection = Static<typeof SystemMessageSection>;

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

export const RootState = Type.Object(
  {
    agents: Type.Array(AgentInfo),
    activeSessions: Type.Optional(Type.Number({ description: 'The number of sessions that are not disposed.' })),
    terminals: Type.Optional(Type.Array(TerminalInfo)),
    config: Type.Optional(RootConfigState),
  },
  { $id: 'RootState', description: 'What every client may know without opening a session.' },
);
export type RootState = Static<typeof RootState>;
