/** Customizations: plugins and folders, and the rules, skills, agents, hooks and servers inside them. */
import { type Static, Type } from 'typebox';
import { Icon, TextRange, URI } from '../common/types.js';
import { Choice, OpenUnion } from '../schema/define.js';

/** Members that every customization has. `id` is the handle in this session, `uri` the source across sessions. */
const customizationBase = {
  id: Type.String(),
  uri: URI,
  name: Type.String(),
  icons: Type.Optional(Type.Array(Icon)),
  range: Type.Optional(TextRange),
};

export const AgentCustomization = Type.Object(
  { type: Type.Literal('agent'), ...customizationBase, description: Type.Optional(Type.String()) },
  { $id: 'AgentCustomization', description: 'A custom agent.' },
);
export type AgentCustomization = Static<typeof AgentCustomization>;

export const SkillCustomization = Type.Object(
  {
    type: Type.Literal('skill'),
    ...customizationBase,
    description: Type.Optional(Type.String()),
    disableModelInvocation: Type.Optional(
      Type.Boolean({ description: 'Whether only people may invoke it, not the model.' }),
    ),
  },
  { $id: 'SkillCustomization', description: 'A skill.' },
);
export type SkillCustomization = Static<typeof SkillCustomization>;

export const PromptCustomization = Type.Object(
  { type: Type.Literal('prompt'), ...customizationBase, description: Type.Optional(Type.String()) },
  { $id: 'PromptCustomization', description: 'A prompt to start from.' },
);
export type PromptCustomization = Static<typeof PromptCustomization>;

export const RuleCustomization = Type.Object(
  {
    type: Type.Literal('rule'),
    ...customizationBase,
    description: Type.Optional(Type.String()),
    alwaysApply: Type.Optional(Type.Boolean({ description: 'Whether it is part of every prompt.' })),
    globs: Type.Optional(Type.Array(Type.String(), { description: 'The files that it applies to.' })),
  },
  { $id: 'RuleCustomization', description: 'An instruction, always on or tied to files.' },
);
export type RuleCustomization = Static<typeof RuleCustomization>;

export const HookCustomization = Type.Object(
  { type: Type.Literal('hook'), ...customizationBase },
  { $id: 'HookCustomization', description: 'A hook that runs on an event.' },
);
export type HookCustomization = Static<typeof HookCustomization>;

export const McpServerCustomization = Type.Object(
  { type: Type.Literal('mcpServer'), ...customizationBase },
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

export const ChildCustomizationType = Choice(['agent', 'skill', 'prompt', 'rule', 'hook', 'mcpServer'], {
  $id: 'ChildCustomizationType',
  description: 'The kind of customizations in a folder.',
});
export type ChildCustomizationType = Static<typeof ChildCustomizationType>;

export const CustomizationLoadingState = Type.Object(
  { kind: Type.Literal('loading') },
  { $id: 'CustomizationLoadingState', description: 'The host is reading it.' },
);
export type CustomizationLoadingState = Static<typeof CustomizationLoadingState>;

export const CustomizationLoadedState = Type.Object(
  { kind: Type.Literal('loaded') },
  { $id: 'CustomizationLoadedState', description: 'In use.' },
);
export type CustomizationLoadedState = Static<typeof CustomizationLoadedState>;

export const CustomizationDegradedState = Type.Object(
  { kind: Type.Literal('degraded'), message: Type.String() },
  { $id: 'CustomizationDegradedState', description: 'Parts of it are in use.' },
);
export type CustomizationDegradedState = Static<typeof CustomizationDegradedState>;

export const CustomizationErrorState = Type.Object(
  { kind: Type.Literal('error'), message: Type.String() },
  { $id: 'CustomizationErrorState', description: 'It could not be read.' },
);
export type CustomizationErrorState = Static<typeof CustomizationErrorState>;

export const CustomizationLoadState = Type.Union(
  [CustomizationLoadingState, CustomizationLoadedState, CustomizationDegradedState, CustomizationErrorState],
  { $id: 'CustomizationLoadState', description: 'Whether a customization is read and in use.' },
);
export type CustomizationLoadState = Static<typeof CustomizationLoadState>;

/** Members of a container. No `children` means not parsed yet; an empty list means nothing was found. */
const containerMembers = {
  enabled: Type.Boolean(),
  clientId: Type.Optional(Type.String({ description: 'The client that contributed it.' })),
  load: Type.Optional(CustomizationLoadState),
  children: Type.Optional(
    Type.Array(ChildCustomization, { description: 'Its contents. Absent: not read yet. Empty: nothing was found.' }),
  ),
};

export const PluginCustomization = Type.Object(
  { type: Type.Literal('plugin'), ...customizationBase, ...containerMembers },
  { $id: 'PluginCustomization', description: 'A plugin and its contents.' },
);
export type PluginCustomization = Static<typeof PluginCustomization>;

export const ClientPluginCustomization = Type.Object(
  {
    type: Type.Literal('plugin'),
    ...customizationBase,
    ...containerMembers,
    nonce: Type.Optional(Type.String({ description: 'Changes whenever the content does.' })),
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
    contents: ChildCustomizationType,
    writable: Type.Boolean({ description: 'Whether clients may save files into it.' }),
  },
  { $id: 'DirectoryCustomization', description: 'A folder of customizations of one type.' },
);
export type DirectoryCustomization = Static<typeof DirectoryCustomization>;

export const Customization = OpenUnion('type', [PluginCustomization, DirectoryCustomization], {
  $id: 'Customization',
  description: 'A top-level customization: a container, or (open content) a bare entry.',
});
export type Customization = Static<typeof Customization>;
