/** Offers the tools of the turn (of extensions, of the active client) to Claude: an MCP server in this process. */
import type { ToolDefinition } from '@atrium/protocol';
import type { ToolOutcome } from '../../core/contracts/agent.js';
import { mcpResult } from '../mcp-result.js';
import { type ToolTable, toolTable } from '../model/tool-table.js';
import { ANSWER_MAX_SECONDS } from './limits.js';
import type { HostServer } from './sdk.js';

const SERVER = 'host';
/** What Claude puts before the names of these tools. */
export const HOST_TOOL_PREFIX = `mcp__${SERVER}__`;

/** Names the call of the model that a request belongs to. */
const CALL_ID = 'claudecode/toolUseId';
/** Otherwise the model would have to search for the tools before it can use them. */
const ALWAYS_LOAD = { 'anthropic/alwaysLoad': true };

export interface HostToolCall {
  /** Of the call as the model made it. */
  readonly id: string;
  /** As the host knows the tool. */
  readonly name: string;
  readonly input: unknown;
}

export class HostTools {
  readonly #tools: ToolTable;

  constructor(definitions: readonly ToolDefinition[]) {
    this.#tools = toolTable(definitions);
  }

  /** The host's name of a tool that Claude calls; undefined for Claude's own tools. */
  nameOf(tool: string): string | undefined {
    if (!tool.startsWith(HOST_TOOL_PREFIX)) return undefined;
    const name = tool.slice(HOST_TOOL_PREFIX.length);
    return this.#tools.get(name)?.name ?? name;
  }

  /** Loaded only now: the library is large, and a host without Claude has no need of this part. */
  async serve(call: (call: HostToolCall) => Promise<ToolOutcome>): Promise<Readonly<Record<string, HostServer>>> {
    if (this.#tools.size === 0) return {};
    const { Server } = await import('@modelcontextprotocol/sdk/server/index.js');
    const { CallToolRequestSchema, ListToolsRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const instance = new Server({ name: SERVER, version: '1' }, { capabilities: { tools: {} } });
    instance.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...this.#tools].map(listed) }));
    instance.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      const id = params._meta?.[CALL_ID];
      const name = this.#tools.get(params.name)?.name ?? params.name;
      return mcpResult(await call({ id: typeof id === 'string' ? id : '', name, input: params.arguments ?? {} }));
    });
    return { [SERVER]: { type: 'sdk', name: SERVER, instance, timeout: ANSWER_MAX_SECONDS * 1_000 } };
  }
}

function listed([name, { title, description, inputSchema, annotations }]: [string, ToolDefinition]) {
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema: { ...inputSchema, type: 'object' as const },
    ...(annotations && { annotations }),
    _meta: ALWAYS_LOAD,
  };
}
