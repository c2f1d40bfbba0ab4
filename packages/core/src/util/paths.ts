/**
 * Where tools may look: inside the session's folders, by real paths, so that no link leads out of them; and never in the
 * host's own data or in files of the kernel, wherever the session's folders are.
 */
import { realpathSync } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from './tool-failure.js';

export interface InsidePath {
  /** The real path on this machine. */
  readonly real: string;
  /** Relative to the session's first folder, with forward slashes; `.` for the folder itself. Whole in any other folder. */
  readonly shown: string;
}

/** The folder of a session, or all of them. Paths are relative to the first. */
export type Folders = string | undefined | readonly string[];

function listOf(folders: Folders): readonly string[] {
  if (folders === undefined) return [];
  return typeof folders === 'string' ? [folders] : folders;
}

/** The session's folder itself; of several, the first. */
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

/** All folders of a session that are there, by their real paths; the first must be. */
export async function sessionFolders(folders: Folders): Promise<string[]> {
  const first = await sessionFolder(folders);
  const others = await Promise.all(
    listOf(folders)
      .slice(1)
      .map((folder) => realpath(folder).catch(() => undefined)),
  );
  return [first, ...others.flatMap((folder) => folder ?? [])];
}

/** Resolves what was asked for; fails when it is not there, or not inside the session's folders. */
export async function resolveInside(folders: Folders, asked: string): Promise<InsidePath> {
  const { roots, wanted } = await wantedPath(folders, asked);
  const inside = insidePath(roots, await realpathOf(wanted, asked), asked);
  await checkAllowedPath(inside.real, asked);
  return inside;
}

/** Anything but a plain file could keep its reader waiting for ever. */
export async function fileInside(folders: Folders, asked: string): Promise<InsidePath> {
  const file = await resolveInside(folders, asked);
  const stats = await stat(file.real);
  if (stats.isDirectory()) {
    throw new ToolFailure('NOT_A_FILE', `${file.shown} is a folder. List it with list_files.`);
  }
  if (!stats.isFile()) throw new ToolFailure('NOT_A_FILE', `${file.shown} is not a plain file.`);
  return file;
}

/** Where a path seems to lead, before any link is followed. Nothing outside is touched, not even to see if it exists. */
export async function wantedPath(folders: Folders, asked: string): Promise<{ roots: string[]; wanted: string }> {
  const roots = await sessionFolders(folders);
  if (asked.includes('\0')) throw new ToolFailure('BAD_INPUT', 'A path cannot contain a zero byte.');
  const given = listOf(folders).map((folder) => path.resolve(folder));
  const wanted = path.resolve(given[0] ?? '', asked);
  if (![...roots, ...given].some((root) => isInside(root, wanted))) throw outside(asked);
  return { roots, wanted };
}

/** Takes a real path for good if it is inside of one of the folders. */
export function insidePath(roots: readonly string[], real: string, asked: string): InsidePath {
  if (!roots.some((root) => isInside(root, real))) throw outside(asked, 'it is a link, or behind one, that leads out');
  return { real, shown: shownIn(roots, real) };
}

/** A path as it is shown in a session with these folders, such that it leads there again. */
export function shownIn([first = '', ...others]: readonly string[], real: string): string {
  const isElsewhere = others.length > 0 && !isInside(first, real);
  return isElsewhere ? real.split(path.sep).join('/') : shownPath(first, real);
}

export function shownPath(root: string, real: string): string {
  return path.relative(root, real).split(path.sep).join('/') || '.';
}

/** Whether a path is a folder or lies in it, going by the text alone. */
/** Where a path leads, also when its end does not exist. */
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

/** The host keeps this beside its data, and the token that opens the host is part of it. */
const DATA_FOLDER_MARK = 'atrium.lock';
/** With one of these beside it. A project may well have a file of the first name. */
const DATA_FILES = ['atrium.owner', 'atrium.db', 'atrium.code-cache'];

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

/** Some file systems look past these characters altogether. */
const UNSEEN = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/** Others drop these at the end of a name, and what follows a colon names a part of the file. */
const DROPPED = /(:.*|[. ]+)$/;

/**
 * Names that a file system may take for one another, as one: a protected name is so under every spelling.
 * `.GIT`, `.git.` and `.g<unseen>it` are one name.
 */
export function foldedName(name: string): string {
  return name.replace(UNSEEN, '').normalize('NFKC').toLowerCase().replace(DROPPED, '');
}

/** Git may run files of its own folder: a hook, a file system monitor. */
export function isInGit(names: readonly string[]): boolean {
  return names.some((name) => {
    const folded = foldedName(name);
    // The second is how old Windows programs call the first.
    return folded === '.git' || folded === 'git~1';
  });
}
