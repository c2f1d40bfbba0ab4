/** Presents a tool of a server as a tool of the host: confirmed, run, watched and cancelled like any other. */

import {
  ALLOW_IN_SESSION,
  type HostTool,
  type ToolConfirmation,
  type ToolContext,
  ToolFailure,
  type ToolOutput,
} from '@atrium/core/contracts/tool.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { throttle } from '@atrium/core/util/scheduling.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { shorten } from '@atrium/core/util/text.js';
import type { ToolResultContent } from '@atrium/protocol/ahp-1';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import type { Tokens } from './authorization.js';
import {
  MCP_CALL_TIMEOUT_MS,
  MCP_PROGRESS_EVERY_MS,
  MCP_RESULT_DATA_MAX_CHARACTERS,
  MCP_RESULT_MAX_BLOCKS,
  MCP_RESULT_TEXT_MAX_CHARACTERS,
  MCP_TEXT_MAX_CHARACTERS,
  MCP_TITLE_MAX_CHARACTERS,
} from './limits.js';
import { type Connection, errorMessageOf } from './mcp-connection.js';
import { type McpAuthRequired, RefusedError } from './mcp-link.js';
import { type McpTool, modelToolName, type ServerName } from './tool-list.js';

export interface ToolServer extends ServerName {
  readonly id: string;
  /** Whether the server is the user's own, rather than a project's or a client's. */
  readonly isOfUser: boolean;
  readonly clock: Clock;
  /** Throws a `ToolFailure` when there is no result. */
  call(tool: string, input: Record<string, unknown>, options: ServerCallOptions): Promise<McpResult>;
}

export interface ServerCallOptions {
  readonly signal: AbortSignal;
  onprogress(progress: Progress): void;
  /** Passes questions of the server to the person who waits for this call. */
  readonly ask?: ToolContext['ask'];
  /** Shows that the call waits for a person to sign in; without it, such a call fails. */
  readonly signIn?: ToolContext['signIn'];
}

/** The server wants a token before it does what the call requests; it has done nothing yet. */
export class SignInNeeded extends ToolFailure {
  constructor(
    server: string,
    readonly requirement: McpAuthRequired,
    /** The token that the server refused. */
    readonly token: string | undefined,
  ) {
    super('AUTH_REQUIRED', `The MCP server ${server} needs you to sign in first.`);
  }
}

export function hostToolOf(tool: McpTool, server: ToolServer): HostTool {
  const displayName = shorten(
    tool.title ?? tool.annotations?.title ?? `${server.name}: ${tool.name}`,
    MCP_TITLE_MAX_CHARACTERS,
  );
  const confirmation = confirmationOf(displayName, server.name);
  // A server could claim this just to avoid the question, so the host believes only the user's own servers.
  const isHarmless = server.isOfUser && tool.annotations?.readOnlyHint === true;
  return {
    definition: { ...tool, name: modelToolName(server, tool.name) },
    displayName,
    owner: server.id,
    customizationId: server.id,
    callMeta: { mcp: { customizationId: server.id, server: server.name, tool: tool.name } },
    timeoutMs: MCP_CALL_TIMEOUT_MS,
    invocationMessage: () => `Use ${displayName}`,
    confirmation: () => (isHarmless ? undefined : confirmation),
    async run(input, context) {
      try {
        return outputOf(await callWatched(tool.name, input, { server, context }), displayName);
      } catch (error) {
        if (error instanceof ToolFailure) return failed(displayName, error);
        throw error;
      }
    },
  };
}

function confirmationOf(displayName: string, server: string): ToolConfirmation {
  return {
    title: `Use ${displayName} of the MCP server ${shorten(server, MCP_TITLE_MAX_CHARACTERS)}?`,
    editable: true,
    options: [
      { id: 'approve', label: 'Use', kind: 'approve' },
      { id: ALLOW_IN_SESSION, label: `Use, and allow ${displayName} in this session`, kind: 'approve' },
      { id: 'deny', label: 'Do not use', kind: 'deny' },
    ],
  };
}

async function callWatched(
  tool: string,
  input: unknown,
  { server, context }: { readonly server: ToolServer; readonly context: ToolContext },
): Promise<McpResult> {
  if (!isRecord(input)) throw new ToolFailure('BAD_INPUT', 'The input of this tool must be an object.');
  let latest = '';
  const shown = throttle(server.clock, MCP_PROGRESS_EVERY_MS, () => context.progress([{ type: 'text', text: latest }]));
  // The call has its own signal, because the turn's may fire long after the call is over and would still reach the
  // server.
  const cancelling = new AbortController();
  const cancel = (): void => cancelling.abort('The call was cancelled.');
  if (context.signal.aborted) cancel();
  context.signal.addEventListener('abort', cancel, { once: true });
  const onprogress = (progress: Progress): void => {
    latest = progressText(progress);
    shown.request();
  };
  try {
    return await server.call(tool, input, {
      signal: cancelling.signal,
      onprogress,
      ...(context.ask && { ask: context.ask }),
      ...(context.signIn && { signIn: context.signIn }),
    });
  } finally {
    context.signal.removeEventListener('abort', cancel);
    shown.stop();
  }
}

/** `Reading files (3 of 10)`. */
function progressText({ progress, total, message }: Progress): string {
  const share = total === undefined ? String(progress) : `${progress} of ${total}`;
  return message ? `${shorten(message, MCP_TEXT_MAX_CHARACTERS)} (${share})` : share;
}

function failed(displayName: string, { code, message }: ToolFailure): ToolOutput {
  const content = [{ type: 'text' as const, text: message }];
  return { success: false, pastTenseMessage: `${displayName} failed`, content, error: { message, code } };
}

interface ServerCall {
  readonly server: string;
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly tokens: Tokens;
}

/** Calls a tool over a connection. Every failure says what happened to the server. */
export async function callTool(
  connection: Connection | undefined,
  { server, tool, input, tokens }: ServerCall,
  options: ServerCallOptions,
): Promise<McpResult> {
  if (!connection) throw new ToolFailure('NOT_RUNNING', `The MCP server ${server} is not running now.`);
  const token = tokens.current;
  try {
    const { signal, onprogress } = options;
    return await connection.request('tools/call', { name: tool, arguments: input }, { signal, onprogress });
  } catch (error) {
    if (options.signal.aborted) throw new ToolFailure('CANCELLED', 'Cancelled before it was done.');
    if (error instanceof RefusedError) throw new SignInNeeded(server, await error.requirement, token);
    if (!connection.isOver) throw new ToolFailure('TOOL_ERROR', tokens.hide(errorMessageOf(error)));
    const end = await connection.ended;
    // Another request was refused. The outcome of this one is unknown, so it is not sent again.
    if (end.kind === 'authRequired') throw new ToolFailure('TOOL_ERROR', tokens.hide(errorMessageOf(error)));
    throw new ToolFailure('SERVER_LOST', `The MCP server ${server} was lost. ${tokens.hide(end.message)}`);
  }
}

export type McpResult = Readonly<Record<string, unknown>>;

export function outputOf({ content, structuredContent, isError }: McpResult, displayName: string): ToolOutput {
  const structured = structuredOf(structuredContent);
  const blocks = Array.isArray(content) ? content.slice(0, MCP_RESULT_MAX_BLOCKS).flatMap(blocksOf) : [];
  const hasText = blocks.some(({ type }) => type === 'text');
  if (structured && !hasText) blocks.push({ type: 'text', text: JSON.stringify(structured) });
  const fitting = withinLimits(blocks);
  const success = isError !== true;
  return {
    success,
    pastTenseMessage: success ? `Used ${displayName}` : `${displayName} failed`,
    content: fitting,
    ...(structured && { structuredContent: structured }),
    ...(!success && { error: { message: messageOf(fitting), code: 'TOOL_ERROR' } }),
  };
}

/**
 * Wraps anything but an object, because clients expect one. Leaves out a value that is too large; its text may be cut.
 */
function structuredOf(value: unknown): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined;
  if (JSON.stringify(value).length > MCP_RESULT_TEXT_MAX_CHARACTERS) return undefined;
  return isRecord(value) ? value : { value };
}

function blocksOf(block: unknown): ToolResultContent[] {
  if (!isRecord(block)) return [];
  if (block.type === 'text') return textBlock(block.text);
  if (block.type === 'image' || block.type === 'audio') return dataBlock(block.data, block.mimeType);
  if (block.type === 'resource_link') return linkBlocks(block);
  if (block.type === 'resource' && isRecord(block.resource)) {
    const { text, blob, mimeType } = block.resource;
    // Text stays text, so that the model can read it.
    return typeof text === 'string' ? textBlock(text) : dataBlock(blob, mimeType);
  }
  return textBlock(`[Content of an unknown kind: ${shorten(String(block.type), 80)}]`);
}

function textBlock(text: unknown): ToolResultContent[] {
  return typeof text === 'string' ? [{ type: 'text', text }] : [];
}

function dataBlock(data: unknown, mimeType: unknown): ToolResultContent[] {
  if (typeof data !== 'string') return [];
  const contentType = typeof mimeType === 'string' && mimeType !== '' ? mimeType : 'application/octet-stream';
  return [{ type: 'embeddedResource', data, contentType }];
}

/** The model reads the address, and a client can show the resource. A plain path is only text. */
function linkBlocks({ uri, name, title, mimeType, size }: Record<string, unknown>): ToolResultContent[] {
  if (typeof uri !== 'string') return [];
  const label = [title, name].find((text) => typeof text === 'string' && text !== '') ?? 'resource';
  const read = textBlock(`[${shorten(String(label), 200)}: ${shorten(uri, MCP_TEXT_MAX_CHARACTERS)}]`);
  if (!URL.canParse(uri)) return read;
  const contentType = typeof mimeType === 'string' ? { contentType: mimeType } : {};
  const sizeHint = typeof size === 'number' ? { sizeHint: size } : {};
  return [...read, { type: 'resource', uri, ...contentType, ...sizeHint }];
}

function withinLimits(blocks: readonly ToolResultContent[]): ToolResultContent[] {
  let text = MCP_RESULT_TEXT_MAX_CHARACTERS;
  let data = MCP_RESULT_DATA_MAX_CHARACTERS;
  return blocks.map((block) => {
    if (block.type === 'text') {
      const room = text;
      text -= Math.min(room, block.text.length);
      return block.text.length <= room
        ? block
        : { type: 'text', text: `${block.text.slice(0, room)}\n[Cut: too long.]` };
    }
    if (block.type !== 'embeddedResource') return block;
    if (block.data.length > data) return { type: 'text', text: `[Left out: ${block.contentType}, too large.]` };
    data -= block.data.length;
    return block;
  });
}

function messageOf(content: readonly ToolResultContent[]): string {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ');
  return shorten(text, MCP_TEXT_MAX_CHARACTERS) || 'The tool failed and did not say why.';
}
