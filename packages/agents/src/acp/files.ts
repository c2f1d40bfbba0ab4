/** Reads and writes files for an agent that leaves this to the host, only in the session's folder. */

import type { ReadTextFileRequest, WriteTextFileRequest } from '@agentclientprotocol/sdk';
import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import type { HostTool } from '@atrium/core/contracts/tool.js';
import { fileInside } from '@atrium/core/util/paths.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { readLines } from '@atrium/core/util/streams.js';
import { errorText } from '@atrium/core/util/text.js';

/** The largest file that is read for an agent. */
const READ_MAX_BYTES = 2 * 2 ** 20;

/**
 * Reads a file. People and gates see a call of the host's own tool, but the agent gets the exact text, which the tool
 * itself would cut.
 */
export async function readForAgent(turn: AgentTurn, tool: HostTool, request: ReadTextFileRequest): Promise<string> {
  const { path, line, limit } = request;
  const startLine = line ?? 1;
  const endLine = typeof limit === 'number' ? startLine + limit - 1 : undefined;
  const input = { path, ...(startLine > 1 && { startLine }), ...(endLine !== undefined && { endLine }) };
  const call = turn.agentRunCall({ name: tool.definition.name, displayName: tool.displayName });
  const pastTenseMessage = tool.invocationMessage(input);
  const permit = await call.check(input, pastTenseMessage);
  if (permit.kind === 'denied') throw new Error(`denied: ${permit.reason}`);
  try {
    const text = await linesFor(turn, permit.input ?? input);
    await call.complete({ success: true, pastTenseMessage, content: [{ type: 'text', text }] });
    return text;
  } catch (error) {
    const message = errorText(error);
    const content = [{ type: 'text' as const, text: message }];
    await call.complete({ success: false, pastTenseMessage, content, error: { message } });
    throw error;
  }
}

/** Checks the input again, because a person may have changed it. */
async function linesFor(turn: AgentTurn, input: unknown): Promise<string> {
  if (!isRecord(input) || typeof input.path !== 'string') throw new Error('there is no path to read');
  const { real, shown } = await fileInside(turn.workingDirectory, input.path);
  const first = typeof input.startLine === 'number' ? input.startLine : 1;
  const last = typeof input.endLine === 'number' ? input.endLine : Number.MAX_SAFE_INTEGER;
  const lines = await readLines(real, { first, last, maxBytes: READ_MAX_BYTES }, turn.signal);
  if (lines.kind === 'binary') throw new Error(`${shown} is not a text file`);
  if (lines.cut) throw new Error(`${shown} is too large: ask for a part of it, with line and limit`);
  return lines.text;
}

/** Writes a file, with the stages of every call: gates, a preview of the change, a person, and only then the file. */
export async function writeForAgent(turn: AgentTurn, tool: HostTool, request: WriteTextFileRequest): Promise<void> {
  const { path, content } = request;
  const input = { path, content };
  const context = { cwd: turn.workingDirectory, signal: turn.signal };
  const preview = await tool.preview?.(input, context);
  if (preview?.kind === 'failed') throw new Error(preview.output.error?.message ?? `${path} cannot be written`);
  const call = turn.agentRunCall({ name: tool.definition.name, displayName: tool.displayName });
  const checked = await call.check(input, tool.invocationMessage(input));
  if (checked.kind === 'denied') throw new Error(`denied: ${checked.reason}`);
  const question = tool.confirmation?.(input) ?? { title: tool.displayName };
  const permit = await call.confirm({ ...question, ...(preview && { edits: preview.edits }) });
  if (permit.kind === 'denied') throw new Error(`denied: ${permit.reason}`);
  const result = await tool.run(permit.input ?? input, {
    ...context,
    progress: (shown) => call.progress(shown),
  });
  await call.complete(result);
  if (!result.success) throw new Error(result.error?.message ?? `${path} could not be written`);
}
