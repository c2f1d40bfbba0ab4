/** Runs one tool in a temporary folder, the way the host would. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { HostTool, ToolContext, ToolOutput } from '@atrium/core/contracts/tool.js';

export interface Result {
  readonly output: ToolOutput;
  readonly text: string;
  /** What was shown while the tool ran. */
  readonly progress: readonly string[];
}

export async function use(
  tool: HostTool,
  input: unknown,
  cwd: string | undefined,
  signal = new AbortController().signal,
  more: Partial<ToolContext> = {},
): Promise<Result> {
  const progress: string[] = [];
  const output = await tool.run(input, { cwd, signal, progress: (content) => progress.push(textOf(content)), ...more });
  return { output, text: textOf(output.content), progress };
}

function textOf(content: ToolOutput['content']): string {
  return content.map((block) => ('text' in block ? block.text : '')).join('');
}

/** A new folder, and the way to be rid of it. */
export async function temporaryFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'atrium-tools-')));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
