/** Walks a tree of files in a stable order. Links are not followed, so the walk never leaves the tree. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { isForbidden } from '@atrium/core/util/paths.js';

/** Folders with generated content. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** The files under a folder: first the folder's own files by name, then those of its sub-folders. */
export async function* filesUnder(folder: string, signal: AbortSignal): AsyncGenerator<string> {
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    signal.throwIfAborted();
    if (await isForbidden(next)) continue;
    const { files, folders } = await entriesOf(next);
    yield* files;
    waiting.push(...folders.reverse());
  }
}

/** An unreadable folder counts as empty, so that one locked folder does not end a search. */
async function entriesOf(folder: string): Promise<{ files: string[]; folders: string[] }> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const full = (entry: { name: string }) => path.join(folder, entry.name);
  return {
    files: entries.filter((entry) => entry.isFile()).map(full),
    folders: entries.filter((entry) => entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)).map(full),
  };
}

/** Compares two relative paths in the order of the walk: the files of a folder, then those of its sub-folders. */
export function byWalk(one: string, other: string): number {
  const [a, b] = [one.split(path.sep), other.split(path.sep)];
  let at = 0;
  while (at < a.length - 1 && at < b.length - 1 && a[at] === b[at]) at += 1;
  const isDeeper = Number(at < a.length - 1) - Number(at < b.length - 1);
  if (isDeeper !== 0) return isDeeper;
  return (a[at] ?? '') < (b[at] ?? '') ? -1 : 1;
}
