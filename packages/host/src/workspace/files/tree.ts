/** Copies and removes whole trees, folder by folder, each of them held while it is worked in. Links are never followed. */
import { type BigIntStats, constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readdir, readlink, rmdir, symlink, unlink } from 'node:fs/promises';
import path from 'node:path';
import { isForbidden } from '../../core/util/forbidden-paths.js';
import { codeOf, invalid, refused } from './errors.js';
import { TREE_MAX_DEPTH, TREE_MAX_ENTRIES } from './limits.js';
import { type PinnedFolder, pinFolder } from './pinned-folder.js';
import { openPlain, READING } from './plain-file.js';

const PERMISSION_BITS = 0o7777;
/** While it is being filled nobody else has business in it. */
const OWNER_ONLY = 0o700;

/** Something by its name in a folder that is held. */
export interface Node {
  readonly folder: PinnedFolder;
  readonly name: string;
}

/** How much one request may still do. */
export class TreeBudget {
  #entries = TREE_MAX_ENTRIES;

  take(depth: number): void {
    this.#entries -= 1;
    if (this.#entries < 0) throw invalid(`more than ${TREE_MAX_ENTRIES} files: do it in several steps`);
    if (depth > TREE_MAX_DEPTH) throw invalid(`more than ${TREE_MAX_DEPTH} folders inside one another`);
  }
}

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
      // By what is held: its name may be that of a link by now, to something else.
      await chmod(target.self, Number(stats.mode) & PERMISSION_BITS);
    });
  });
}

/** What was opened is what is copied, whatever its name stands for by then. */
async function copyOne(from: Node, to: Node): Promise<void> {
  const { handle, stats } = await openPlain(from.folder, from.name, READING);
  try {
    if (!stats.isFile()) throw refused(`${from.name} was exchanged meanwhile`);
    const source = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : pathOf(from);
    await copyFile(source, pathOf(to), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  } finally {
    await handle.close();
  }
}

export async function removeTree(node: Node, budget = new TreeBudget(), depth = 0): Promise<void> {
  budget.take(depth);
  await node.folder.check();
  const stats = await statsOf(node).catch(ifGone);
  if (!stats?.isDirectory()) return unlink(pathOf(node)).catch(ifGone);
  await within(node, async (folder, names) => {
    for (const name of names) await removeTree({ folder, name }, budget, depth + 1);
  });
  await rmdir(pathOf(node));
}

/** Somebody else has removed it meanwhile. */
function ifGone(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
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

export function pathOf({ folder, name }: Node): string {
  return folder.at(name);
}

export function statsOf(node: Node): Promise<BigIntStats> {
  return lstat(pathOf(node), { bigint: true });
}
