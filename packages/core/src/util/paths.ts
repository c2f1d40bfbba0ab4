/**
 * Where tools may look: inside the session's folders, compared by real paths, so that no link leads out of them; and
 * never in the host's own data or in files of the kernel, even if they are inside those folders.
 */
import { realpathSync } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from './tool-failure.js';

export interface InsidePath {
  /** The real path on this machine. */
  readonly real: string;
  /**
   * Relative to the session's first folder, with forward slashes; `.` for the folder itself. Absolute in any other
   * folder.
   */
  readonly shown: string;
}

/** The session's folder, or all of them. Paths are relative to the first. */
export type Folders = string | undefined | readonly string[];

function listOf(folders: Folders): readonly string[] {
  if (folders === undefined) return [];
  return typeof folders === 'string' ? [folders] : folders;
}

/** The session's folder; the first if there are several. */
export async function sessionFolder(folders: Folders): Promise<string> {
  const [cwd] = listOf(folders);
  if (cwd === undefined) {
    throw new ToolFailure('NO_FOLDER', 'This session has no folder. Create a session with a working directory first.');
  }
  try {
    return await realpath(cwd);
  } catch {
    throw new ToolFailure('NO_FOLDER', "The session's folder does not exist (any more).");
  }
}

/** The real paths of all folders of a session that exist; the first must exist. */
export async function sessionFolders(folders: Folders): Promise<string[]> {
  const first = await sessionFolder(folders);
  const [, ...others] = listOf(folders);
  const found = await Promise.all(others.map((folder) => realpath(folder).catch(() => undefined)));
  return [first, ...found.flatMap((folder) => folder ?? [])];
}

/** Resolves a path; fails if it does not exist, or is not inside the session's folders. */
export async function resolveInside(folders: Folders, asked: string): Promise<InsidePath> {
  const { roots, wanted } = await requestedPath(folders, asked);
  const inside = insidePath(roots, await realpathOf(wanted, asked), asked);
  await checkAllowedPath(inside.real, asked);
  return inside;
}

/** Resolves a path to a plain file: reading anything else could block forever. */
export async function fileInside(folders: Folders, asked: string): Promise<InsidePath> {
  const file = await resolveInside(folders, asked);
  const stats = await stat(file.real);
  if (stats.isDirectory()) {
    throw new ToolFailure('NOT_A_FILE', `${file.shown} is a folder. List it with list_files.`);
  }
  if (!stats.isFile()) throw new ToolFailure('NOT_A_FILE', `${file.shown} is not a plain file.`);
  return file;
}

/**
 * Where a path seems to lead, before links are resolved. Nothing outside is touched, not even to see whether it exists.
 */
export async function requestedPath(folders: Folders, asked: string): Promise<{ roots: string[]; wanted: string }> {
  const roots = await sessionFolders(folders);
  if (asked.includes('\0')) throw new ToolFailure('BAD_INPUT', 'A path cannot contain a zero byte.');
  const given = listOf(folders).map((folder) => path.resolve(folder));
  const wanted = path.resolve(given[0] ?? '', asked);
  if (![...roots, ...given].some((root) => isInside(root, wanted))) throw outside(asked);
  return { roots, wanted };
}

/** Accepts a real path if it is inside one of the folders. */
export function insidePath(roots: readonly string[], real: string, asked: string): InsidePath {
  if (!roots.some((root) => isInside(root, real)))
    throw outside(asked, 'it is a link that leads out, or is reached through one');
  return { real, shown: shownIn(roots, real) };
}

/** How a path is shown in a session with these folders, so that it leads back to the same place. */
export function shownIn([first = '', ...others]: readonly string[], real: string): string {
  const isElsewhere = others.length > 0 && !isInside(first, real);
  return isElsewhere ? real.split(path.sep).join('/') : shownPath(first, real);
}

export function shownPath(root: string, real: string): string {
  return path.relative(root, real).split(path.sep).join('/') || '.';
}

/** The real path, also if the end of the path does not exist. */
export function realPathSync(file: string): string {
  const missing: string[] = [];
  for (let current = path.resolve(file); ; current = path.dirname(current)) {
    try {
      return path.join(realpathSync.native(current), ...missing);
    } catch {
      if (current === path.dirname(current)) return path.resolve(file);
      missing.unshift(path.basename(current));
    }
  }
}

/** True when a path is a folder or lies inside it, judging by the text alone. */
export function isInside(root: string, candidate: string): boolean {
  const relative = path.relative(root, candidate);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

async function realpathOf(wanted: string, asked: string): Promise<string> {
  try {
    return await realpath(wanted);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new ToolFailure('NOT_FOUND', `There is no "${asked}" in the session's folder.`);
    }
    if (code === 'ELOOP') throw new ToolFailure('NOT_FOUND', `"${asked}" is a link that leads back to itself.`);
    throw error;
  }
}

function outside(asked: string, why = 'tools only see what is inside it'): ToolFailure {
  return new ToolFailure('OUTSIDE_FOLDER', `"${asked}" is outside the session's folder: ${why}.`);
}

/** The host keeps this file beside its data, including the token that opens the host. */
const DATA_FOLDER_MARK = 'atrium.lock';
/** One of these is next to it in a data folder: a project may well have a file with the first name. */
const DATA_FILES = ['atrium.owner', 'atrium.db', 'atrium.code-cache'];

/**
 * Worktrees of sessions are in this folder. They belong to the sessions, although the folder is inside the host's data.
 */
const WORKTREES_FOLDER = 'worktrees';

/** Files of the kernel: reading some of them blocks forever, and the process can only have a few such reads. */
const KERNEL_FOLDERS = ['/proc', '/sys', '/dev'];
/** A file system in memory like any other, although it is below one of them. */
const MEMORY_FOLDER = '/dev/shm';

/** Fails for a real path that tools must not touch. */
export async function checkAllowedPath(real: string, asked: string): Promise<void> {
  if (isKernels(real)) throw forbidden(asked, 'it belongs to the operating system');
  for (const folder of andAbove(real)) {
    if (isInWorktree(folder, real)) continue;
    if (await isDataFolder(folder)) throw forbidden(asked, 'it is the data of the host itself');
  }
}

/** True when a walk must not enter a folder. The walk comes from above, so the folders above have been checked. */
export async function isForbidden(folder: string): Promise<boolean> {
  return isKernels(folder) || (await isDataFolder(folder));
}

/** A path, and all folders above it. */
function andAbove(real: string): string[] {
  const above = path.dirname(real);
  return above === real ? [real] : [real, ...andAbove(above)];
}

function isInWorktree(folder: string, real: string): boolean {
  const [first, worktree = ''] = path.relative(folder, real).split(path.sep);
  return first === WORKTREES_FOLDER && worktree !== '';
}

function isKernels(real: string): boolean {
  return KERNEL_FOLDERS.some((folder) => isAtOrBelow(real, folder)) && !isAtOrBelow(real, MEMORY_FOLDER);
}

function isAtOrBelow(real: string, folder: string): boolean {
  return real === folder || real.startsWith(`${folder}/`);
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

function forbidden(asked: string, why: string): ToolFailure {
  return new ToolFailure('NO_GO', `"${asked}" is off limits to tools: ${why}.`);
}

/** Characters that some file systems ignore. */
const UNSEEN = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/** Endings that other file systems drop; what follows a colon names a part of the file. */
const DROPPED = /(:.*|[. ]+)$/;

/**
 * Gives names that a file system may treat as equal one form, so that a protected name is protected in every spelling.
 * `.GIT`, `.git.` and `.g<unseen>it` are one name.
 */
export function foldedName(name: string): string {
  return name.replace(UNSEEN, '').normalize('NFKC').toLowerCase().replace(DROPPED, '');
}

/** True inside a `.git` folder, from which Git may run files: a hook, a file system monitor. */
export function isInGit(names: readonly string[]): boolean {
  return names.some((name) => {
    const folded = foldedName(name);
    // Old Windows programs know `.git` as `git~1`.
    return folded === '.git' || folded === 'git~1';
  });
}
