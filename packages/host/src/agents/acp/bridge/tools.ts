/** The host's tools as an MCP server shows them: the list of the moment, and each call by way of the broker. */

import type { ToolDefinition } from '@atrium/protocol';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { AgentTurn, ToolOutcome } from '../../agent.js';

/** What the bridge hands on; the turn changes, and between two there is none. */
export interface BridgedTools {
  turn(): AgentTurn | undefined;
}

export function mcpTool({ name, title, description, inputSchema }: ToolDefinition): Tool {
  return {
    name,
    inputSchema: { ...inputSchema, type: 'object' } as Tool['inputSchema'],
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
  };
}

export async function callForAgent({ turn }: BridgedTools, name: string, input: unknown): Promise<CallToolResult> {
  const active = turn();
  if (!active) return failed('Nobody has asked for anything now, so no tool can be used.');
  return resultOf(await active.callTool({ name, input: input ?? {} }));
}

function resultOf(outcome: ToolOutcome): CallToolResult {
  if (outcome.kind === 'denied') return failed(`The call was denied: ${outcome.reason}`);
  return { content: [{ type: 'text', text: outcome.text }], isError: !outcome.success };
}

function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
