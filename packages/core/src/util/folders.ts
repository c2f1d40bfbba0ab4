/**
 * Makes a folder and those that are missing above it, as `mkdir -p` does. Node's own recursive way never returns where
 * the system answers "not found" inside a folder that is there, as `/proc` does; these fail.
 */
import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SessionState } from '@atrium/protocol';

export interface FolderOptions {
  /** Who may use the folders that are made. Without it, as the system gives it. */
  readonly mode?: number;
}

export async function makeFolder(folder: string, options: FolderOptions = {}): Promise<void> {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !(await stat(at).catch(() => undefined)); at = path.dirname(at)) {
    missing.unshift(at);
    if (isTop(at)) break;
  }
  for (const each of missing) {
    await mkdir(each, options).catch(async (error) => {
      if (!(await isFolder(each))) throw error;
    });
  }
  if (missing.length === 0 && !(await isFolder(folder))) await mkdir(folder);
}

export function makeFolderSync(folder: string, options: FolderOptions = {}): void {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !statSync(at, { throwIfNoEntry: false }); at = path.dirname(at)) {
    missing.unshift(at);
    if (isTop(at)) break;
  }
  for (const each of missing) {
    try {
      mkdirSync(each, options);
    } catch (error) {
      if (!statSync(each, { throwIfNoEntry: false })?.isDirectory()) throw error;
    }
  }
  if (missing.length === 0 && !statSync(folder).isDirectory()) mkdirSync(folder);
}

/** Nothing is above a drive, not even above one that is not there. */
function isTop(folder: string): boolean {
  return path.dirname(folder) === folder;
}

export async function isFolder(folder: string): Promise<boolean> {
  return stat(folder).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

/** The session's folder as a path, when it is one of this machine. */
export function folderOf({ summary }: SessionState): string | undefined {
  const { workingDirectory } = summary;
  if (!workingDirectory?.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(workingDirectory);
  } catch {
    return undefined;
  }
}
