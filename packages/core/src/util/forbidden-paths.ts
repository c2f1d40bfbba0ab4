/** Places that no tool touches, wherever a session's folder is: the host's own data, and files that are no files. */
import { access } from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from './tool-failure.js';

/** The host keeps this beside its data, and the token that opens the host is part of it. */
const DATA_FOLDER_MARK = 'atrium.lock';
/** With one of these beside it. A project may well have a file of the first name. */
const DATA_FILES = ['atrium.owner', 'atrium.db'];

/** Sessions that work on a copy of a repository have it in here. It is theirs, although it lies among the host's data. */
const WORKTREES_FOLDER = 'worktrees';

/** Files of the kernel: some keep their reader waiting for ever, and a program has few readers to lose. */
const KERNEL_FOLDERS = ['/proc', '/sys', '/dev'];

/** Fails for a real path that tools must leave alone. */
export async function checkAllowedPath(real: string, asked: string): Promise<void> {
  if (isKernels(real)) throw noGo(asked, 'it belongs to the operating system');
  for (const folder of andAbove(real)) {
    if (isInWorktree(folder, real)) continue;
    if (await isDataFolder(folder)) throw noGo(asked, 'it is the data of the host itself');
  }
}

/** Whether a walk should stay out of a folder. It comes from above, so what is above it was looked at before. */
export async function isForbidden(folder: string): Promise<boolean> {
  return isKernels(folder) || (await isDataFolder(folder));
}

/** A path, and all folders that it is in. */
function andAbove(real: string): string[] {
  const above = path.dirname(real);
  return above === real ? [real] : [real, ...andAbove(above)];
}

function isInWorktree(folder: string, real: string): boolean {
  const [first, worktree = ''] = path.relative(folder, real).split(path.sep);
  return first === WORKTREES_FOLDER && worktree !== '';
}

function isKernels(real: string): boolean {
  return KERNEL_FOLDERS.some((folder) => real === folder || real.startsWith(`${folder}/`));
}

async function isDataFolder(folder: string): Promise<boolean> {
  if (!(await isIn(folder, DATA_FOLDER_MARK))) return false;
  const found = await Promise.all(DATA_FILES.map((name) => isIn(folder, name)));
  return found.includes(true);
}

function isIn(folder: string, name: string): Promise<boolean> {
  return access(path.join(folder, name)).then(
    () => true,
    () => false,
  );
}

function noGo(asked: string, why: string): ToolFailure {
  return new ToolFailure('NO_GO', `"${asked}" is not for tools: ${why}.`);
}
