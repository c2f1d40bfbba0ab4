/** Files for an agent that leaves them to the host: inside the session's folder only, and written once people agree. */
import type { ReadTextFileRequest, WriteTextFileRequest } from '@agentclientprotocol/sdk';
import { resolveInside } from '../../tools/paths.js';
import { readLines } from '../../tools/read-lines.js';
import { writeFileTool } from '../../tools/write-file.js';
import type { AgentTurn } from '../agent.js';
import { READ_MAX_BYTES } from './limits.js';

export async function readForAgent(turn: AgentTurn, { path, line, limit }: ReadTextFileRequest): Promise<string> {
  const { real, shown } = await resolveInside(turn.workingDirectory, path);
  const first = line ?? 1;
  const last = limit === null || limit === undefined ? Number.MAX_SAFE_INTEGER : first + limit - 1;
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
