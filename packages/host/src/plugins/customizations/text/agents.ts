/** The custom agent that a session works as: its words, and the tools that it may use. */
import type { AgentSelection } from '@atrium/protocol';
import type { Gate } from '../../../core/contracts/extension.js';
import type { Container } from '../container.js';
import type { AgentPart } from '../parse/agents.js';
import { toolAliases } from '../tool-aliases.js';
import { USE_SKILL } from './skill-tool.js';

/** Of the containers that are switched on. */
export function selectedAgent(
  containers: readonly Container[],
  selection: AgentSelection | undefined,
): AgentPart | undefined {
  if (!selection) return undefined;
  const agents = containers.flatMap(({ loaded }) => loaded?.agents ?? []);
  return agents.find(({ uri }) => uri === selection.uri);
}

export function agentWords({ name, prompt }: AgentPart): string {
  return `You work as the agent "${name}".\n\n${prompt.trim()}`;
}

/** Refuses tools that the agent's file does not name: a model may call what it was never told of. */
export function agentGate(agent: () => AgentPart | undefined, tools: () => readonly string[]): Gate {
  return {
    name: 'The selected agent',
    isStatic: true,
    concerns: ({ toolName }) => !usableBy(agent(), tools)(toolName),
    check: ({ toolName }) => ({ kind: 'deny', reason: `"${agent()?.name}" does not use ${toolName}` }),
  };
}

/**
 * Whether an agent works with a tool. A list that names none of `all` was written for another host; it would leave the
 * agent with nothing, so it does not count.
 */
export function usableBy(agent: AgentPart | undefined, all: () => readonly string[]): (toolName: string) => boolean {
  const { tools } = agent ?? {};
  if (!tools || tools.includes('*')) return () => true;
  const named = new Set(tools.flatMap((name) => [name, ...toolAliases(name)]));
  if (!all().some((name) => named.has(name))) return () => true;
  return (toolName) => toolName === USE_SKILL || named.has(toolName);
}
