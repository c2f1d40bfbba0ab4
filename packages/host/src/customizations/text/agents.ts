/** The custom agent that a session works as: its words, and the tools that it may use. */
import type { AgentSelection } from '@atrium/protocol';
import type { Gate, GateCall } from '../../extensions/extension.js';
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

/** Refuses tools that the agent's file does not name. */
export function agentGate(agent: () => AgentPart | undefined, tools: () => readonly string[]): Gate {
  return {
    name: 'The selected agent',
    isStatic: true,
    concerns: (call) => !mayUse(agent(), call, tools()),
    check: ({ toolName }) => ({ kind: 'deny', reason: `"${agent()?.name}" does not use ${toolName}` }),
  };
}

/** A list that names no tool of this session was written for another host; it would leave the agent with nothing. */
function mayUse(agent: AgentPart | undefined, { toolName }: GateCall, offered: readonly string[]): boolean {
  const { tools } = agent ?? {};
  if (!tools || toolName === USE_SKILL || tools.includes('*')) return true;
  const isNamed = (name: string) => tools.some((named) => named === name || toolAliases(name).includes(named));
  return isNamed(toolName) || !offered.some(isNamed);
}
