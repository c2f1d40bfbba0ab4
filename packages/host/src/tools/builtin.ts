/** The tools that every session has. */
import { gitStatusTool } from './git-status.js';
import { listFilesTool } from './list-files.js';
import { readFileTool } from './read-file.js';
import { searchFilesTool } from './search-files.js';
import { shellTool } from './shell.js';
import type { HostTool } from './tool.js';

export function builtinTools(): HostTool[] {
  return [listFilesTool, readFileTool, searchFilesTool, gitStatusTool(), shellTool()];
}
