/** What clients see of a container's parts. How a part is carried out is never copied into here. */
import type { ChildCustomization, HookCustomization, McpServerCustomization } from '@atrium/protocol';
import type { AgentPart } from './agents.js';
import { byCodeUnits } from './files.js';
import type { HookEvent } from './hook-events.js';
import type { HookPart } from './hooks.js';
import type { McpServerPart } from './mcp-parts.js';
import { present } from './present.js';
import type { PromptPart } from './prompts.js';
import type { RulePart } from './rules.js';
import type { SkillPart } from './skills.js';
import type { PartBase } from './source.js';

/** The parts of a container, for the host. Each has the id of its child. */
export interface Parts {
  readonly agents: readonly AgentPart[];
  readonly skills: readonly SkillPart[];
  readonly prompts: readonly PromptPart[];
  readonly rules: readonly RulePart[];
  readonly hooks: readonly HookPart[];
  readonly mcpServers: readonly McpServerPart[];
}

export const NO_PARTS: Parts = { agents: [], skills: [], prompts: [], rules: [], hooks: [], mcpServers: [] };

/** Hooks and MCP servers have members that the protocol's own types leave open. */
export type HookChild = HookCustomization & { readonly event: HookEvent; readonly matcher?: string };
export type McpServerChild = McpServerCustomization & {
  readonly enabled: boolean;
  readonly state: { readonly kind: 'stopped' };
};

/** By type, then by name: the same parts always make the same list. */
export function childrenOf(parts: Parts): readonly ChildCustomization[] {
  return [
    ...sorted(parts.agents.map(agentChild)),
    ...sorted(parts.skills.map(skillChild)),
    ...sorted(parts.prompts.map(promptChild)),
    ...sorted(parts.rules.map(ruleChild)),
    ...sorted(parts.hooks.map(hookChild)),
    ...sorted(parts.mcpServers.map(mcpServerChild)),
  ];
}

function sorted<Child extends PartBase>(children: readonly Child[]): readonly Child[] {
  return children.toSorted((a, b) => byCodeUnits(a.name, b.name) || byCodeUnits(a.id, b.id));
}

function base<Type extends string>(type: Type, { id, uri, name }: PartBase) {
  return { type, id, uri, name };
}

function agentChild(part: AgentPart): ChildCustomization {
  return { ...base('agent', part), ...present({ description: part.description }) };
}

function skillChild(part: SkillPart): ChildCustomization {
  const { description } = part;
  const disableModelInvocation = part.disableModelInvocation || undefined;
  return { ...base('skill', part), ...present({ description, disableModelInvocation }) };
}

function promptChild(part: PromptPart): ChildCustomization {
  return { ...base('prompt', part), ...present({ description: part.description }) };
}

function ruleChild(part: RulePart): ChildCustomization {
  const { description, alwaysApply } = part;
  const globs = part.globs.length > 0 ? [...part.globs] : undefined;
  return { ...base('rule', part), ...present({ description, globs }), alwaysApply };
}

function hookChild(part: HookPart): HookChild {
  const { range, event, matcher } = part;
  return { ...base('hook', part), range, event, ...present({ matcher }) };
}

/** A declared server has not been started yet. */
function mcpServerChild(part: McpServerPart): McpServerChild {
  return { ...base('mcpServer', part), range: part.range, enabled: true, state: { kind: 'stopped' } };
}
