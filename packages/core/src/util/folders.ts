/** Makes, finds and watches folders. */
import { mkdirSync, statSync, watch } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ChatState, SessionState } from '@atrium/protocol/ahp-1';

export interface FolderOptions {
  /** The permissions of new folders. Default: the system's. */
  readonly mode?: number;
}

/**
 * Makes a folder and all missing folders above it, as `mkdir -p` does. Where the system answers "not found" inside an
 * existing folder, as in `/proc`, Node's `recursive` option never returns; this fails.
 */
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

/** The same, synchronously, for the start of a program. */
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

/** True for a folder without a parent, such as a drive, even one that does not exist. */
function isTop(folder: string): boolean {
  return path.dirname(folder) === folder;
}

export async function isFolder(folder: string): Promise<boolean> {
  return stat(folder).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

type Located = Pick<SessionState, 'workingDirectories'>;

/** The session's folder as a path, if it is on this machine; the first if there are several. */
export function folderOf({ workingDirectories = [] }: Located): string | undefined {
  return pathOfUri(workingDirectories[0]);
}

/** All folders of a session as paths, in order; for a chat that works in some of them, only those. */
export function foldersOf(
  { workingDirectories = [] }: Located,
  chat?: Pick<ChatState, 'workingDirectories'>,
): string[] {
  const chosen = chat?.workingDirectories;
  const shown = chosen ? workingDirectories.filter((uri) => chosen.includes(uri)) : workingDirectories;
  return shown.flatMap((uri) => pathOfUri(uri) ?? []);
}

/** The path of a file URI; undefined for anything that is not on this machine. */
export function pathOfUri(uri: string | undefined): string | undefined {
  if (!uri?.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

export interface FolderWatcher {
  close(): void;
}

/**
 * Watches one folder with the system's help. Every watch of the host goes through here; see decision 0029. Calls back
 * with the name of a changed entry, relative to the folder; undefined when the system does not name it. A watcher does
 * not keep the process alive, and ends quietly with its folder. Throws when the system cannot watch more.
 */
export function watchFolder(
  folder: string,
  changed: (name: string | undefined) => void,
  { recursive = false }: { readonly recursive?: boolean } = {},
): FolderWatcher {
  const watcher = watch(folder, { persistent: false, recursive }, (_event, name) => changed(name ?? undefined));
  watcher.on('error', () => watcher.close());
  return watcher;
}
