/** The host's tools as an MCP server shows them: the list of the moment, and each call by way of the broker. */

import type { ToolDefinition } from '@atrium/protocol';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { AgentTurn } from '../../../core/contracts/agent.js';
import { failedResult, mcpResult } from '../../shared/tool-results.js';

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
  if (!active) return failedResult('Nobody has asked for anything now, so no tool can be used.');
  return mcpResult(await active.callTool({ name, input: input ?? {} }));
}
