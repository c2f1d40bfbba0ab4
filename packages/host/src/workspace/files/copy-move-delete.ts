/**
 * `resourceCopy`, `resourceMove` and `resourceDelete`. An existing target is replaced last, when nothing else can fail.
 */
import { type BigIntStats, constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readdir, readlink, rename, rmdir, symlink, unlink } from 'node:fs/promises';
import path from 'node:path';
import { isForbidden, isInside } from '@atrium/core/util/paths.js';
import type { ResourceCopyParams, ResourceDeleteParams } from '@atrium/protocol/ahp-1';
import type { FileAccess, PinnedEntry } from './file-access.js';
import { alreadyExists, codeOf, invalid, notFound, refused } from './file-errors.js';
import { openPlain, type PinnedFolder, pinFolder, READING, takeName, temporaryName } from './pinned-folder.js';

/** How many files and folders one copy or deletion may include, and how deep they may be nested. */
const TREE_MAX_ENTRIES = 100_000;
export const TREE_MAX_DEPTH = 128;
const PERMISSION_BITS = 0o7777;
/** The mode of a folder while it is being filled. */
const OWNER_ONLY = 0o700;

type Params = Pick<ResourceCopyParams, 'source' | 'destination' | 'failIfExists'>;

export function copy(files: FileAccess, clientId: string, { source, destination, failIfExists = false }: Params) {
  return files.at({ uri: source, clientId, access: 'read' }, (from) =>
    files.at({ uri: destination, clientId, access: 'write', followLast: false }, async (to) => {
      if (isSame(from, to, failIfExists)) return;
      const finished = await copiedBeside(from, to);
      await putInPlace({ node: finished, isFolder: from.stats?.isDirectory() === true, to, failIfExists });
    }),
  );
}

/** Moves a link as a link. */
export function move(files: FileAccess, clientId: string, { source, destination, failIfExists = false }: Params) {
  return files.at({ uri: source, clientId, access: 'write', followLast: false }, (from) =>
    files.at({ uri: destination, clientId, access: 'write', followLast: false }, async (to) => {
      from.assertRemovable();
      if (isSame(from, to, failIfExists)) return;
      const isFolder = from.stats?.isDirectory() === true;
      const node = { folder: from.held, name: from.name };
      await putInPlace({ node, isFolder, to, failIfExists }).catch(async (error) => {
        if (codeOf(error) !== 'EXDEV') throw error;
        await putInPlace({ node: await copiedBeside(from, to), isFolder, to, failIfExists });
        await removeTree(node);
      });
    }),
  );
}

/** Whether source and target are the same, so that nothing needs to be done. Fails when the request is impossible. */
function isSame(from: PinnedEntry, to: PinnedEntry, failIfExists: boolean): boolean {
  if (!from.stats) throw notFound(from.uri);
  if (to.names.length > 1) throw notFound(to.uri, 'has no folder: make it with resourceMkdir first');
  if (to.stats && failIfExists) throw alreadyExists(to.uri);
  if (from.real === to.real) return true;
  if (isInside(from.real, to.real) || isInside(to.real, from.real)) {
    throw invalid('one of source and destination lies in the other');
  }
  to.assertRemovable();
  if (to.stats && to.stats.isDirectory() !== from.stats.isDirectory()) {
    throw alreadyExists(to.uri, 'is there already: a folder never replaces a file, nor a file a folder');
  }
  return false;
}

async function copiedBeside(from: PinnedEntry, to: PinnedEntry): Promise<Node> {
  const copied = { folder: to.held, name: temporaryName() };
  await to.held.check();
  try {
    const node = { folder: from.held, name: from.name };
    // A file is opened as a file: by now its name may be that of a link, which was not requested.
    await (from.stats?.isFile() ? copyOne(node, copied) : copyTree(node, copied));
    return copied;
  } catch (error) {
    await removeTree(copied).catch(() => {});
    throw error;
  }
}

interface Putting {
  readonly node: Node;
  readonly isFolder: boolean;
  readonly to: PinnedEntry;
  readonly failIfExists: boolean;
}

/** First sets aside a folder that is in the way, and restores it if the new one cannot take its name. */
async function putInPlace({ node, isFolder, to, failIfExists }: Putting): Promise<void> {
  const target = { folder: to.held, name: to.name };
  const aside = { folder: to.held, name: temporaryName() };
  const isInTheWay = isFolder && to.stats !== undefined;
  if (isInTheWay) await rename(pathOf(target), pathOf(aside));
  try {
    await takeName({ from: pathOf(node), to: target, isFolder, mustBeNew: failIfExists });
  } catch (error) {
    if (isInTheWay) await rename(pathOf(aside), pathOf(target)).catch(() => {});
    throw error;
  }
  if (isInTheWay) await removeTree(aside);
}

/**
 * `resourceDelete`: deletes a file, a folder, or a link itself. Deletes a folder that is not empty only if requested.
 */
export function remove(files: FileAccess, clientId: string, { uri, recursive = false }: ResourceDeleteParams) {
  return files.at(
    { uri, clientId, access: 'write', followLast: false },
    async ({ stats, held, name, assertRemovable }) => {
      if (!stats) throw notFound(uri);
      assertRemovable();
      if (recursive || !stats.isDirectory()) return removeTree({ folder: held, name });
      await rmdir(held.at(name)).catch((error) => {
        if (codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'EEXIST') {
          throw invalid(`${uri} is not empty: delete it with recursive: true`);
        }
        throw error;
      });
    },
  );
}

/** An entry by its name in a folder that is held open. */
interface Node {
  readonly folder: PinnedFolder;
  readonly name: string;
}

/** Copies a whole tree. Holds each folder open while it copies it, and never follows links. */
export async function copyTree(from: Node, to: Node, budget = new TreeBudget(), depth = 0): Promise<void> {
  budget.take(depth);
  const stats = await statsOf(from);
  if (stats.isFile()) return copyOne(from, to);
  if (stats.isSymbolicLink()) return symlink(await readlink(pathOf(from)), pathOf(to));
  if (!stats.isDirectory()) throw invalid(`${from.name} is neither a file nor a folder and cannot be copied`);
  await mkdir(pathOf(to), { mode: OWNER_ONLY });
  await within(from, async (source, names) => {
    await within(to, async (target) => {
      for (const name of names) {
        await copyTree({ folder: source, name }, { folder: target, name }, budget, depth + 1);
      }
      // By the open folder: its name may now be that of a link to something else.
      await chmod(target.self, Number(stats.mode) & PERMISSION_BITS);
    });
  });
}

/** Copies the open file, even if its name is now that of another file. */
async function copyOne(from: Node, to: Node): Promise<void> {
  const { handle, stats } = await openPlain(from.folder, from.name, READING);
  try {
    if (!stats.isFile()) throw refused(`${from.name} was replaced meanwhile`);
    const source = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : pathOf(from);
    await copyFile(source, pathOf(to), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  } finally {
    await handle.close();
  }
}

async function removeTree(node: Node, budget = new TreeBudget(), depth = 0): Promise<void> {
  budget.take(depth);
  await node.folder.check();
  const stats = await statsOf(node).catch(ifGone);
  if (!stats?.isDirectory()) return unlink(pathOf(node)).catch(ifGone);
  await within(node, async (folder, names) => {
    for (const name of names) await removeTree({ folder, name }, budget, depth + 1);
  });
  await rmdir(pathOf(node));
}

/** How much one request may still do. */
class TreeBudget {
  #entries = TREE_MAX_ENTRIES;

  take(depth: number): void {
    this.#entries -= 1;
    if (this.#entries < 0) throw invalid(`more than ${TREE_MAX_ENTRIES} files: do it in several steps`);
    if (depth > TREE_MAX_DEPTH) throw invalid(`more than ${TREE_MAX_DEPTH} folders inside one another`);
  }
}

async function within(node: Node, act: (folder: PinnedFolder, names: string[]) => Promise<void>): Promise<void> {
  const folder = await pinFolder(path.join(node.folder.real, node.name));
  try {
    if (await isForbidden(folder.real)) throw refused(`${node.name} holds data of the host itself, or of the system`);
    await act(folder, await readdir(folder.self));
  } finally {
    await folder.close();
  }
}

function pathOf({ folder, name }: Node): string {
  return folder.at(name);
}

function statsOf(node: Node): Promise<BigIntStats> {
  return lstat(pathOf(node), { bigint: true });
}

/** Another request or program has removed it meanwhile. */
function ifGone(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}
