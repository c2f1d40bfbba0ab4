/** `find_files`: finds files by a pattern for their path. */
import { stat } from 'node:fs/promises';
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import { glob } from '@atrium/core/util/glob.js';
import { resolveInside, sessionFolders, shownIn, shownPath } from '@atrium/core/util/paths.js';
import { shorten } from '@atrium/core/util/text.js';
import { FILE_TOOL_TIMEOUT_MS, foldersOf, hostTool, succeeded } from './host-tool.js';
import { filesUnder } from './walk.js';

export const FIND_MAX_FILES = 200;
/** A search stops after this many files, and says so. */
export const FIND_MAX_VISITED = 100_000;
export const GLOB_MAX_CHARACTERS = 1_000;

export const findFilesTool = hostTool({
  name: 'find_files',
  displayName: 'Find files',
  description:
    'Finds files whose path matches a glob pattern: * is any part of a name, ** any folders, ? one character, [a-z] one of ' +
    'these, {a,b} either. A pattern without a slash matches in every folder. Skips .git and node_modules. ' +
    `At most ${FIND_MAX_FILES} files.`,
  annotations: { readOnlyHint: true, openWorldHint: false },
  timeoutMs: FILE_TOOL_TIMEOUT_MS,
  properties: {
    pattern: { type: 'string', minLength: 1, description: 'For example *.ts or src/**/*.{ts,tsx}.' },
    path: {
      type: 'string',
      description: "The folder to search, relative to the session's folder. Default: all folders of the session.",
    },
  },
  required: ['pattern'],
  invocation: ({ pattern }) => `Find ${shorten(pattern, 60)}`,
  async run({ pattern, path }, context) {
    if (pattern.length > GLOB_MAX_CHARACTERS) {
      throw new ToolFailure('BAD_INPUT', `"pattern" is longer than ${GLOB_MAX_CHARACTERS} characters.`);
    }
    const fits = glob(pattern);
    const roots = await sessionFolders(foldersOf(context));
    const start = path ? await resolveInside(foldersOf(context), path) : undefined;
    if (start && !(await stat(start.real)).isDirectory())
      throw new ToolFailure('NOT_A_FOLDER', `${start.shown} is a file.`);
    const found = await find({ roots, starts: start ? [start.real] : roots, fits, signal: context.signal });
    return succeeded(`Found ${shorten(pattern, 60)}`, report(pattern, found));
  },
});

interface Found {
  readonly files: readonly string[];
  /** Why the search stopped early. */
  readonly stopped?: string;
}

interface Request {
  readonly roots: readonly string[];
  readonly starts: readonly string[];
  readonly fits: (path: string) => boolean;
  readonly signal: AbortSignal;
}

async function find({ roots, starts, fits, signal }: Request): Promise<Found> {
  const files = new Set<string>();
  let visited = 0;
  for (const start of starts) {
    for await (const file of filesUnder(start, signal)) {
      if (visited === FIND_MAX_VISITED) return { files: [...files], stopped: `after ${FIND_MAX_VISITED} files` };
      visited += 1;
      if (!fits(shownPath(start, file))) continue;
      if (files.size === FIND_MAX_FILES) return { files: [...files], stopped: `at ${FIND_MAX_FILES} files` };
      files.add(shownIn(roots, file));
    }
  }
  return { files: [...files] };
}

function report(pattern: string, { files, stopped }: Found): string {
  const list = files.length === 0 ? `No file fits "${pattern}".` : files.join('\n');
  return stopped ? `${list}\n[Stopped ${stopped}; look in a sub-folder for the rest.]` : list;
}
