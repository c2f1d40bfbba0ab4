/** Where tools may look: inside the session's folder, by real paths, so that no link leads out of it. */
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { checkAllowedPath } from './forbidden-paths.js';
import { ToolFailure } from './tool-failure.js';

export interface InsidePath {
  /** The real path on this machine. */
  readonly real: string;
  /** Relative to the session's folder, with forward slashes; `.` for the folder itself. */
  readonly shown: string;
}

/** The session's folder itself. */
export async function sessionFolder(cwd: string | undefined): Promise<string> {
  if (cwd === undefined) {
    throw new ToolFailure('NO_FOLDER', 'This session has no folder. Create a session with a working directory first.');
  }
  try {
    return await realpath(cwd);
  } catch {
    throw new ToolFailure('NO_FOLDER', "The session's folder does not exist (any more).");
  }
}

/** Resolves what was asked for; fails when it is not there, or not inside the session's folder. */
export async function resolveInside(cwd: string | undefined, asked: string): Promise<InsidePath> {
  const { root, wanted } = await wantedPath(cwd, asked);
  const inside = insidePath(root, await realpathOf(wanted, asked), asked);
  await checkAllowedPath(inside.real, asked);
  return inside;
}

/** Anything but a plain file could keep its reader waiting for ever. */
export async function fileInside(cwd: string | undefined, asked: string): Promise<InsidePath> {
  const file = await resolveInside(cwd, asked);
  const stats = await stat(file.real);
  if (stats.isDirectory()) {
    throw new ToolFailure('NOT_A_FILE', `${file.shown} is a folder. List it with list_files.`);
  }
  if (!stats.isFile()) throw new ToolFailure('NOT_A_FILE', `${file.shown} is not a plain file.`);
  return file;
}

/** Where a path seems to lead, before any link is followed. Nothing outside is touched, not even to see if it exists. */
export async function wantedPath(cwd: string | undefined, asked: string): Promise<{ root: string; wanted: string }> {
  const root = await sessionFolder(cwd);
  if (asked.includes('\0')) throw new ToolFailure('BAD_INPUT', 'A path cannot contain a zero byte.');
  const wanted = path.resolve(cwd ?? root, asked);
  if (!isInside(root, wanted) && !isInside(path.resolve(cwd ?? root), wanted)) throw outside(asked);
  return { root, wanted };
}

/** Takes a real path for good if it is inside. */
export function insidePath(root: string, real: string, asked: string): InsidePath {
  if (!isInside(root, real)) throw outside(asked, 'it is a link, or behind one, that leads out');
  return { real, shown: shownPath(root, real) };
}

export function shownPath(root: string, real: string): string {
  return path.relative(root, real).split(path.sep).join('/') || '.';
}

/** Whether a path is a folder or lies in it, going by the text alone. */
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
