/** Customizations: plugins, folders and MCP servers, and the rules, skills, agents and hooks inside them. */
import { type Static, Type } from 'typebox';
import { ProtectedResourceMetadata } from '../../root/authentication.js';
import { MapOf, OpenChoice, OpenUnion } from '../../schema/define.js';
import { CustomizationLoadState } from '../../session/customizations.js';
import { ErrorInfo, Icon, Meta, TextRange, URI } from '../common/types.js';

export { CustomizationLoadState };

/** Members that every customization has. `id` is the handle in this session, `uri` the source across sessions. */
const customizationBase = {
  id: Type.String(),
  uri: URI,
  name: Type.String(),
  icons: Type.Optional(Type.Array(Icon)),
  range: Type.Optional(TextRange),
  _meta: Type.Optional(Meta),
};

/** Members of customizations inside a container that people can switch off individually. */
const childMembers = {
  ...customizationBase,
  enabled: Type.Optional(Type.Boolean({ description: 'Absent: on.' })),
};

const invocationMembers = {
  disableModelInvocation: Type.Optional(
    Type.Boolean({ description: 'Whether only people may invoke it, not the model.' }),
  ),
  disableUserInvocation: Type.Optional(
    Type.Boolean({ description: 'Whether only the model may invoke it, not people.' }),
  ),
};

export const AgentCustomization = Type.Object(
  {
    type: Type.Literal('agent'),
    ...childMembers,
    description: Type.Optional(Type.String()),
    model: Type.Optional(Type.String({ description: 'The model that it prefers.' })),
    tools: Type.Optional(Type.Array(Type.String(), { description: 'The tools that it may use.' })),
    ...invocationMembers,
  },
  { $id: 'AgentCustomization', description: 'A custom agent.' },
);
export type AgentCustomization = Static<typeof AgentCustomization>;

export const SkillCustomization = Type.Object(
  { type: Type.Literal('skill'), ...childMembers, description: Type.Optional(Type.String()), ...invocationMembers },
  { $id: 'SkillCustomization', description: 'A skill.' },
);
export type SkillCustomization = Static<typeof SkillCustomization>;

export const PromptCustomization = Type.Object(
  { type: Type.Literal('prompt'), ...childMembers, description: Type.Optional(Type.String()) },
  { $id: 'PromptCustomization', description: 'A prompt to start from.' },
);
export type PromptCustomization = Static<typeof PromptCustomization>;

export const RuleCustomization = Type.Object(
  {
    type: Type.Literal('rule'),
    ...childMembers,
    description: Type.Optional(Type.String()),
    alwaysApply: Type.Optional(Type.Boolean({ description: 'Whether it is part of every prompt.' })),
    globs: Type.Optional(Type.Array(Type.String(), { description: 'The files that it applies to.' })),
  },
  { $id: 'RuleCustomization', description: 'An instruction, always on or tied to files.' },
);
export type RuleCustomization = Static<typeof RuleCustomization>;

export const HookCustomization = Type.Object(
  { type: Type.Literal('hook'), ...childMembers },
  { $id: 'HookCustomization', description: 'A hook that runs on an event.' },
);
export type HookCustomization = Static<typeof HookCustomization>;

export const GlobalEnablement = Type.Object(
  { kind: Type.Literal('global'), enabled: Type.Boolean() },
  { $id: 'GlobalEnablement', description: 'Switched on or off everywhere.' },
);
export type GlobalEnablement = Static<typeof GlobalEnablement>;

export const WorkspaceEnablement = Type.Object(
  { kind: Type.Literal('workspace'), uri: URI, enabled: Type.Boolean() },
  { $id: 'WorkspaceEnablement', description: 'Switched on or off in one folder.' },
);
export type WorkspaceEnablement = Static<typeof WorkspaceEnablement>;

export const SessionEnablement = Type.Object(
  { kind: Type.Literal('session'), enabled: Type.Boolean() },
  { $id: 'SessionEnablement', description: 'Switched on or off in this session.' },
);
export type SessionEnablement = Static<typeof SessionEnablement>;

export const CustomizationEnablement = OpenUnion('kind', [GlobalEnablement, WorkspaceEnablement, SessionEnablement], {
  $id: 'CustomizationEnablement',
  description: 'Whether a customization is on, and where that was decided.',
});
export type CustomizationEnablement = Static<typeof CustomizationEnablement>;

const enablement = Type.Optional(
  Type.Array(CustomizationEnablement, {
    description: 'The most specific decision first; that one counts. Absent or empty: on.',
  }),
);

export const McpOAuthClient = Type.Object(
  { clientId: Type.String(), clientSecret: Type.Optional(Type.String()) },
  { $id: 'McpOAuthClient', description: 'The OAuth client to sign in with, when it is registered beforehand.' },
);
export type McpOAuthClient = Static<typeof McpOAuthClient>;

const mcpAuthMembers = {
  reason: OpenChoice(['required', 'expired', 'insufficientScope'], { description: 'What is wrong with the token.' }),
  oauthClient: Type.Optional(McpOAuthClient),
  resource: ProtectedResourceMetadata,
  requiredScopes: Type.Optional(Type.Array(Type.String(), { description: 'Scopes that the token must have.' })),
  description: Type.Optional(Type.String()),
};

export const McpAuthRequirement = Type.Object(mcpAuthMembers, {
  $id: 'McpAuthRequirement',
  description: 'The token that an MCP server needs.',
});
export type McpAuthRequirement = Static<typeof McpAuthRequirement>;

export const McpServerStartingState = Type.Object(
  {
    kind: Type.Literal('starting'),
    blocking: Type.Optional(Type.Boolean({ description: 'Whether the session waits for it.' })),
  },
  { $id: 'McpServerStartingState', description: 'The server is starting.' },
);
export type McpServerStartingState = Static<typeof McpServerStartingState>;

export const McpServerReadyState = Type.Object(
  { kind: Type.Literal('ready') },
  { $id: 'McpServerReadyState', description: 'The server can be used.' },
);
export type McpServerReadyState = Static<typeof McpServerReadyState>;

export const McpServerAuthRequiredState = Type.Object(
  { kind: Type.Literal('authRequired'), ...mcpAuthMembers },
  { $id: 'McpServerAuthRequiredState', description: 'The server needs a token.' },
);
export type McpServerAuthRequiredState = Static<typeof McpServerAuthRequiredState>;

export const McpServerErrorState = Type.Object(
  { kind: Type.Literal('error'), error: ErrorInfo },
  { $id: 'McpServerErrorState', description: 'The server failed.' },
);
export type McpServerErrorState = Static<typeof McpServerErrorState>;

export const McpServerStoppedState = Type.Object(
  { kind: Type.Literal('stopped') },
  { $id: 'McpServerStoppedState', description: 'The server does not run.' },
);
export type McpServerStoppedState = Static<typeof McpServerStoppedState>;

export const McpServerState = OpenUnion(
  'kind',
  [McpServerStartingState, McpServerReadyState, McpServerAuthRequiredState, McpServerErrorState, McpServerStoppedState],
  { $id: 'McpServerState', description: 'Whether an MCP server runs.' },
);
export type McpServerState = Static<typeof McpServerState>;

export const McpServerCustomizationApps = Type.Object(
  {
    capabilities: MapOf(Type.Unknown(), { description: 'The parts of MCP that clients may use on the side channel.' }),
  },
  { $id: 'McpServerCustomizationApps', description: 'What apps of the server may do.' },
);
export type McpServerCustomizationApps = Static<typeof McpServerCustomizationApps>;

export const McpServerCustomization = Type.Object(
  {
    type: Type.Literal('mcpServer'),
    ...customizationBase,
    enablement,
    state: McpServerState,
    channel: Type.Optional(URI),
    mcpApp: Type.Optional(McpServerCustomizationApps),
  },
  { $id: 'McpServerCustomization', description: 'A Model Context Protocol server.' },
);
export type McpServerCustomization = Static<typeof McpServerCustomization>;

export const ChildCustomization = OpenUnion(
  'type',
  [
    AgentCustomization,
    SkillCustomization,
    PromptCustomization,
    RuleCustomization,
    HookCustomization,
    McpServerCustomization,
  ],
  { $id: 'ChildCustomization', description: 'A customization inside a plugin or a folder.' },
);
export type ChildCustomization = Static<typeof ChildCustomization>;

export const ChildCustomizationType = OpenChoice(['agent', 'skill', 'prompt', 'rule', 'hook', 'mcpServer'], {
  $id: 'ChildCustomizationType',
  description: 'The kind of customizations in a folder.',
});
export type ChildCustomizationType = Static<typeof ChildCustomizationType>;

/** Members of a container. No `children` means not parsed yet; an empty list means nothing was found. */
const containerMembers = {
  clientId: Type.Optional(Type.String({ description: 'The client that contributed it.' })),
  load: Type.Optional(CustomizationLoadState),
  children: Type.Optional(
    Type.Array(ChildCustomization, { description: 'Its contents. Absent: not read yet. Empty: nothing was found.' }),
  ),
};

const pluginMembers = {
  type: Type.Literal('plugin'),
  ...customizationBase,
  ...containerMembers,
  enablement,
  version: Type.Optional(Type.String()),
};

export const PluginCustomization = Type.Object(pluginMembers, {
  $id: 'PluginCustomization',
  description: 'A plugin and its contents.',
});
export type PluginCustomization = Static<typeof PluginCustomization>;

export const ClientPluginCustomization = Type.Object(
  {
    ...pluginMembers,
    nonce: Type.Optional(Type.String({ description: 'Changes whenever the content does.' })),
    childEnablement: Type.Optional(
      MapOf(Type.Array(CustomizationEnablement), { description: 'Decisions about its contents, by name.' }),
    ),
  },
  {
    $id: 'ClientPluginCustomization',
    description: 'A plugin that a client contributes; the nonce changes when its content does.',
  },
);
export type ClientPluginCustomization = Static<typeof ClientPluginCustomization>;

export const DirectoryCustomization = Type.Object(
  {
    type: Type.Literal('directory'),
    ...customizationBase,
    ...containerMembers,
    enabled: Type.Boolean(),
    contents: ChildCustomizationType,
    writable: Type.Boolean({ description: 'Whether clients may save files into it.' }),
  },
  { $id: 'DirectoryCustomization', description: 'A folder of customizations of one type.' },
);
export type DirectoryCustomization = Static<typeof DirectoryCustomization>;

export const Customization = OpenUnion('type', [PluginCustomization, DirectoryCustomization, McpServerCustomization], {
  $id: 'Customization',
  description: 'A top-level customization: a container, an MCP server, or (open content) a bare entry.',
});
export type Customization = Static<typeof Customization>;
