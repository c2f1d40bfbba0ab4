/** The tools that every session has. */

import type { HostTool } from '@atrium/core/contracts/tool.js';
import { applyPatchTool } from './apply-patch.js';
import { askUserTool } from './ask-user.js';
import { backgroundListTool, backgroundReadTool, backgroundStopTool } from './background.js';
import { editFileTool } from './edit-file.js';
import { findFilesTool } from './find-files.js';
import { gitStatusTool } from './git-status.js';
import { listFilesTool } from './list-files.js';
import { readFileTool } from './read-file.js';
import { searchFilesTool } from './search-files.js';
import { shellTool } from './shell.js';
import { taskTool } from './task.js';
import { todoListTool } from './todo-list.js';
import { webFetchTool } from './web-fetch.js';
import { writeFileTool } from './write-file.js';

export function builtinTools(): HostTool[] {
  return [
    listFilesTool,
    findFilesTool,
    readFileTool,
    searchFilesTool,
    writeFileTool,
    editFileTool,
    applyPatchTool,
    gitStatusTool(),
    shellTool(),
    backgroundListTool,
    backgroundReadTool,
    backgroundStopTool,
    webFetchTool(),
    todoListTool,
    askUserTool,
    taskTool,
  ];
}
