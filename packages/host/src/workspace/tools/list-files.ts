/** `list_files`: the entries of one folder. */
import type { Dirent } from 'node:fs';
import { lstat, readdir, readlink, stat } from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import { type InsidePath, resolveInside } from '@atrium/core/util/paths.js';
import { count, sizeText } from '@atrium/core/util/text.js';
import { FILE_TOOL_TIMEOUT_MS, foldersOf, hostTool, succeeded } from './host-tool.js';

export const LIST_MAX_ENTRIES = 200;

export const listFilesTool = hostTool({
  name: 'list_files',
  displayName: 'List files',
  description: `Lists one folder: folders first, then files with their sizes. At most ${LIST_MAX_ENTRIES} entries.`,
  annotations: { readOnlyHint: true, openWorldHint: false },
  timeoutMs: FILE_TOOL_TIMEOUT_MS,
  properties: {
    path: { type: 'string', description: "The folder, relative to the session's folder. Default: that folder." },
  },
  required: [],
  invocation: ({ path }) => `List ${path || 'the folder'}`,
  async run({ path: asked }, context) {
    const folder = await resolveInside(foldersOf(context), asked || '.');
    if (!(await stat(folder.real)).isDirectory()) {
      throw new ToolFailure('NOT_A_FOLDER', `${folder.shown} is a file, not a folder. Read it with read_file.`);
    }
    const entries = await readdir(folder.real, { withFileTypes: true });
    return succeeded(`Listed ${asked || 'the folder'}`, await describe(folder, entries));
  },
});

async function describe(folder: InsidePath, entries: readonly Dirent[]): Promise<string> {
  if (entries.length === 0) return 'The folder is empty.';
  const shown = [...entries].sort(foldersFirst).slice(0, LIST_MAX_ENTRIES);
  const lines = await Promise.all(shown.map((entry) => describeEntry(folder.real, entry)));
  const left = entries.length - shown.length;
  if (left > 0) lines.push(`[Cut: ${count(left, 'more entry', 'more entries')}, not shown.]`);
  return lines.join('\n');
}

function foldersFirst(a: Dirent, b: Dirent): number {
  return Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : 1);
}

async function describeEntry(folder: string, entry: Dirent): Promise<string> {
  const full = path.join(folder, entry.name);
  if (entry.isDirectory()) return `${entry.name}/`;
  // An entry may disappear between reading the folder and reading the entry.
  if (entry.isSymbolicLink()) return `${entry.name}  -> ${await readlink(full).catch(() => '?')}`;
  const size = await lstat(full).then(
    (stats) => sizeText(stats.size),
    () => '?',
  );
  return `${entry.name}  ${size}`;
}
