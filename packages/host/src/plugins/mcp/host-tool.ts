/** A tool of a server as a tool of the host: the same way to be asked for, run, watched and cancelled as any other. */
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import {
  ALLOW_IN_SESSION,
  type HostTool,
  type ToolConfirmation,
  type ToolContext,
  ToolFailure,
  type ToolOutput,
} from '../../core/contracts/tool.js';
import type { Clock } from '../../core/util/clock.js';
import { isRecord } from '../../core/util/shape.js';
import { shorten } from '../../core/util/text.js';
import { throttle } from '../../core/util/throttle.js';
import {
  MCP_CALL_TIMEOUT_MS,
  MCP_PROGRESS_EVERY_MS,
  MCP_TITLE_MAX_CHARACTERS,
  MCP_WORDS_MAX_CHARACTERS,
} from './limits.js';
import { type McpResult, outputOf } from './result.js';
import type { McpTool } from './tool-list.js';
import { modelToolName, type ServerName } from './tool-name.js';

export interface ToolServer extends ServerName {
  readonly id: string;
  /** The user's own, and not one of a project or a client. */
  readonly isOfUser: boolean;
  readonly clock: Clock;
  /** Throws a `ToolFailure` when there is no result. */
  call(tool: string, input: Record<string, unknown>, options: ServerCallOptions): Promise<McpResult>;
}

export interface ServerCallOptions {
  readonly signal: AbortSignal;
  onprogress(progress: Progress): void;
  /** Puts questions of the server to the person who waits for this call. */
  readonly ask?: ToolContext['ask'];
}

export function hostToolOf(tool: McpTool, server: ToolServer): HostTool {
  const displayName = shorten(
    tool.title ?? tool.annotations?.title ?? `${server.name}: ${tool.name}`,
    MCP_TITLE_MAX_CHARACTERS,
  );
  const confirmation = confirmationOf(displayName, server.name);
  // Whoever wants to get around the question only has to claim this, so not everybody is believed.
  const isHarmless = server.isOfUser && tool.annotations?.readOnlyHint === true;
  return {
    definition: { ...tool, name: modelToolName(server, tool.name) },
    displayName,
    owner: server.id,
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
  // A signal of the call's own: the turn's may fire long after the call is over, and a server would hear of it then.
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
    });
  } finally {
    context.signal.removeEventListener('abort', cancel);
    shown.stop();
  }
}

/** `Reading files (3 of 10)`. */
function progressText({ progress, total, message }: Progress): string {
  const share = total === undefined ? String(progress) : `${progress} of ${total}`;
  return message ? `${shorten(message, MCP_WORDS_MAX_CHARACTERS)} (${share})` : share;
}

function failed(displayName: string, { code, message }: ToolFailure): ToolOutput {
  const content = [{ type: 'text' as const, text: message }];
  return { success: false, pastTenseMessage: `${displayName} failed`, content, error: { message, code } };
}
