/** Calls a tool over a connection. Whatever goes wrong becomes a failure that says what happened to the server. */
import { ToolFailure } from '../../core/contracts/tool.js';
import { type Connection, wordsOf } from './connection.js';
import type { ServerCallOptions } from './host-tool.js';
import type { McpResult } from './result.js';
import type { Tokens } from './tokens.js';

export interface ServerCall {
  readonly server: string;
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly tokens: Tokens;
}

export async function callTool(
  connection: Connection | undefined,
  { server, tool, input, tokens }: ServerCall,
  options: ServerCallOptions,
): Promise<McpResult> {
  if (!connection) throw new ToolFailure('NOT_RUNNING', `The MCP server ${server} is not running now.`);
  try {
    const { signal, onprogress } = options;
    return await connection.request('tools/call', { name: tool, arguments: input }, { signal, onprogress });
  } catch (error) {
    if (options.signal.aborted) throw new ToolFailure('CANCELLED', 'Cancelled before it was done.');
    if (!connection.isOver) throw new ToolFailure('TOOL_ERROR', tokens.hide(wordsOf(error)));
    const end = await connection.ended;
    if (end.kind === 'authRequired') {
      throw new ToolFailure('AUTH_REQUIRED', `The MCP server ${server} wants somebody to sign in first.`);
    }
    throw new ToolFailure('SERVER_LOST', `The MCP server ${server} was lost. ${tokens.hide(end.message)}`);
  }
}
