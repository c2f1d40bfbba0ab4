/** Files for an agent that leaves them to the host: inside the session's folder only, and written once people agree. */
import type { ReadTextFileRequest, WriteTextFileRequest } from '@agentclientprotocol/sdk';
import type { AgentTurn } from '../../core/contracts/agent.js';
import { fileInside } from '../../core/util/paths.js';
import { readLines } from '../../core/util/read-lines.js';
import { isRecord } from '../../core/util/shape.js';
import { succeeded } from '../../workspace/tools/host-tool.js';
import { readFileTool } from '../../workspace/tools/read-file.js';
import { writeFileTool } from '../../workspace/tools/write-file.js';
import { READ_MAX_BYTES } from './limits.js';

/** Gates have their say and everybody sees it, as with the host's own tool for this. */
export async function readForAgent(turn: AgentTurn, { path, line, limit }: ReadTextFileRequest): Promise<string> {
  const { definition, displayName } = readFileTool;
  const startLine = line ?? 1;
  const endLine = typeof limit === 'number' ? startLine + limit - 1 : undefined;
  const input = { path, ...(startLine > 1 && { startLine }), ...(endLine !== undefined && { endLine }) };
  const call = turn.ownCall({ name: definition.name, displayName });
  const words = readFileTool.invocationMessage(input);
  const permit = await call.check(input, words);
  if (permit.kind === 'denied') throw new Error(`denied: ${permit.reason}`);
  try {
    const text = await linesFor(turn, permit.input ?? input);
    await call.complete(succeeded(words, text));
    return text;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const content = [{ type: 'text' as const, text: message }];
    await call.complete({ success: false, pastTenseMessage: words, content, error: { message } });
    throw error;
  }
}

/** A person may have changed the input. */
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

/** Goes the way of every call: gates, a look at what would change, a person, then the file. */
export async function writeForAgent(turn: AgentTurn, { path, content }: WriteTextFileRequest): Promise<void> {
  const { definition, displayName } = writeFileTool;
  const input = { path, content };
  const context = { cwd: turn.workingDirectory, signal: turn.signal };
  const preview = await writeFileTool.preview?.(input, context);
  if (preview?.kind === 'failed') throw new Error(preview.output.error?.message ?? `${path} cannot be written`);
  const call = turn.ownCall({ name: definition.name, displayName });
  const checked = await call.check(input, writeFileTool.invocationMessage(input));
  if (checked.kind === 'denied') throw new Error(`denied: ${checked.reason}`);
  const question = writeFileTool.confirmation?.(input) ?? { title: displayName };
  const permit = await call.confirm({ ...question, ...(preview && { edits: preview.edits }) });
  if (permit.kind === 'denied') throw new Error(`denied: ${permit.reason}`);
  const result = await writeFileTool.run(permit.input ?? input, {
    ...context,
    progress: (shown) => call.progress(shown),
  });
  await call.complete(result);
  if (!result.success) throw new Error(result.error?.message ?? `${path} could not be written`);
}
