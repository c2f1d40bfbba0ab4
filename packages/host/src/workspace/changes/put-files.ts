/**
 * Puts contents at paths of a session's folders, or removes what is there. The host plans all files first, and then
 * puts each one completely or not at all, and nowhere else. A person may save a file at the same moment, so the host
 * overwrites nothing: it moves the file aside, checks it once more, and only then removes it. A newer version from
 * another program goes back to its place.
 */
import { randomUUID } from 'node:crypto';
import { linkSync, lstatSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { chmod, lstat, mkdir, open, realpath, rm, rmdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import { counted, UNWATCHED, type Work } from '@atrium/core/contracts/work.js';
import { mapSome, oneAtATime } from '@atrium/core/util/scheduling.js';
import { MovedError } from '../files/file-errors.js';
import { pinFolder } from '../files/pinned-folder.js';
import { type BytePath, foldersOf, located, onDisk, shownPath } from '../git/byte-path.js';
import { capture, statsOf } from './capture.js';
import { type Change, changeOf, type Entry, isSame } from './change.js';
import { NAMED_MAX, PUTS_AT_ONCE } from './limits.js';
import { type FileChanges, planOf } from './merge.js';

/** A file was not put in place, and nothing was changed. The message says why. */
export class NotPutError extends Error {
  override readonly name = 'NotPutError';
}

export interface Plan {
  readonly puts: readonly Put[];
  readonly refused: readonly Refusal[];
}

export interface Applied {
  /** The changes that were made, so that they can be undone. */
  readonly changes: readonly Change[];
  /** The files that are now as wanted, including those that already were. */
  readonly done: ReadonlySet<BytePath>;
  readonly refused: readonly Refusal[];
}

export interface Refusal {
  readonly path: BytePath;
  readonly why: string;
}

export async function planAll(root: string, wanted: readonly FileChanges[], blobs: BlobStore): Promise<Plan> {
  const plans = await mapSome(wanted, PUTS_AT_ONCE, (file) => planOf(root, file, blobs));
  return {
    puts: plans.flatMap((plan) => ('why' in plan ? [] : plan)),
    refused: plans.flatMap((plan) => ('why' in plan ? plan : [])),
  };
}

/** The changes that a plan will make; files that are already as wanted are not among them. */
export function changesIn({ puts }: Plan): Change[] {
  return puts.filter(isAnything).map(({ path, current, target }) => changeOf(path, current, target));
}

/** A person may stop it: the remaining files then stay as they are, and what was done can be undone. */
export async function carryOut(root: string, plan: Plan, blobs: BlobStore, work: Work = UNWATCHED): Promise<Applied> {
  const refused = [...plan.refused];
  const changes: Change[] = [];
  const done = new Set(plan.puts.filter((put) => !isAnything(put)).map(({ path }) => path));
  const carry = async (put: Put) => {
    const { path, current, target } = put;
    if (work.signal.aborted) return void refused.push({ path, why: 'it was stopped before' });
    const why = await putEntry(root, put, blobs).then(() => undefined, reasonOf);
    next();
    if (why !== undefined) return void refused.push({ path, why });
    done.add(path);
    changes.push(changeOf(path, current, target));
  };
  const puts = plan.puts.filter(isAnything);
  const next = counted(work, puts.length, 'Putting files back');
  // A file may be where a folder has to go, and the other way round, so removals come first.
  for (const some of [puts.filter(({ target }) => !target), puts.filter(({ target }) => target)]) {
    await mapSome(some, PUTS_AT_ONCE, carry);
  }
  return { changes, done, refused };
}

/** `a.txt (it has been deleted since), b.txt (…) and 3 more`. */
export function refusedText(refused: readonly Refusal[]): string {
  const named = refused.slice(0, NAMED_MAX).map(({ path, why }) => `${shownName(path)} (${why})`);
  const more = refused.length - named.length;
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** A file in a further folder is shown with its whole path. */
function shownName(bytes: BytePath): string {
  const { root, path: inside } = located('', bytes);
  return path.join(root, shownPath(inside));
}

function isAnything({ current, target }: Put): boolean {
  return !isSame(current, target);
}

function reasonOf(error: unknown): string {
  if (error instanceof NotPutError) return error.message;
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return `it cannot be written: ${code}`;
}

export interface Put {
  readonly path: BytePath;
  /** What is at the path as far as the host knows; it leaves anything else alone. */
  readonly current?: Entry;
  readonly target?: Entry;
}

const NEW_MODE = { file: 0o666, exec: 0o777 } as const;
const BUSY = 'another program is changing it right now';

export async function putEntry(first: string, { path: file, ...rest }: Put, blobs: BlobStore): Promise<void> {
  const { root, path: inside } = located(first, file);
  const put: Put = { ...rest, path: inside };
  // The agent's own tools wait for each other under this name, too.
  await oneAtATime(path.join(root, shownPath(put.path)), async () => {
    await checkFolders(root, put.path);
    if (put.target) await makeFolders(root, put.path);
    const held = await inFolderOf(root, put.path, (here, name) => exchange(here, { ...put, path: name }, blobs));
    if (!held) throw new NotPutError('the folder that it is in was moved, or is something else now');
    if (!put.target) await removeEmptyFolders(root, put.path);
  });
}

/** Works in one pinned folder, so `put.path` is only a name. */
async function exchange(root: string, put: Put, blobs: BlobStore): Promise<void> {
  const { path: file, current, target } = put;
  const [draft, aside] = [temporaryName(), temporaryName()];
  try {
    if (target) await fill(root, { draft, file, target }, blobs);
    await check(root, file, current, blobs);
    const place = onDisk(root, file);
    const swapped = swap({
      place,
      ...(target && { draft: onDisk(root, draft) }),
      ...(current && { aside: onDisk(root, aside) }),
    });
    if (!swapped) throw new NotPutError(BUSY);
    if (!current) return;
    await check(root, aside, current, blobs).catch((error) => {
      if (giveBack({ place, aside: onDisk(root, aside) }, swapped.placed)) throw error;
      throw new NotPutError(`${BUSY}; its version from a moment ago is beside it, in ${aside}`);
    });
    await rm(onDisk(root, aside), { force: true });
  } finally {
    await rm(onDisk(root, draft), { force: true });
  }
}

async function check(root: string, file: BytePath, expected: Entry | undefined, blobs: BlobStore): Promise<void> {
  if (!isSame(await capture(root, file, blobs), expected)) throw new NotPutError(BUSY);
}

/** In the same folder, so that moving it to its place is one step. */
function temporaryName(): BytePath {
  return `.atrium-${randomUUID()}.tmp`;
}

interface Draft {
  readonly draft: BytePath;
  readonly file: BytePath;
  readonly target: Entry;
}

async function fill(root: string, { draft, file, target }: Draft, blobs: BlobStore): Promise<void> {
  const bytes = await blobs.get(target.hash);
  if (!bytes) throw new NotPutError('its content is no longer stored');
  const place = onDisk(root, draft);
  if (target.kind === 'link') return symlink(bytes, place);
  const handle = await open(place, 'wx', NEW_MODE[target.kind]);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  const there = await lstat(onDisk(root, file)).catch(() => undefined);
  if (there?.isFile()) await chmod(place, modeFor(there.mode, target.kind));
}

/** Keeps who may read and write a file. It becomes executable for all its readers, or for no user. */
function modeFor(mode: number, kind: 'file' | 'exec'): number {
  const permissions = mode & 0o777;
  return kind === 'exec' ? permissions | ((permissions & 0o444) >> 2) : permissions & ~0o111;
}

/** Fails when a folder of the path has become a link, which would lead elsewhere. */
export async function checkFolders(root: string, file: BytePath): Promise<void> {
  for (const folder of foldersOf(file)) {
    const place = onDisk(root, folder);
    const real = await realpath(place, { encoding: 'buffer' }).catch(() => undefined);
    if (!real) continue;
    if (!real.equals(place)) throw new NotPutError('a folder that it is in has become a link');
    return;
  }
}

async function makeFolders(root: string, file: BytePath): Promise<void> {
  const missing: BytePath[] = [];
  for (const folder of foldersOf(file)) {
    if (await statsOf(root, folder)) break;
    missing.unshift(folder);
  }
  for (const folder of missing)
    await inFolderOf(root, folder, (here, name) => mkdir(onDisk(here, name)).catch(ignoreExists));
}

/** Removes emptied folders, as Git does. */
async function removeEmptyFolders(root: string, file: BytePath): Promise<void> {
  for (const folder of foldersOf(file)) {
    const gone = await inFolderOf(root, folder, (here, name) => rmdir(onDisk(here, name))).catch(() => undefined);
    if (!gone) return;
  }
}

/** Works in the folder of an entry, by the entry's name there. Undefined when that folder has moved. */
async function inFolderOf<T>(
  root: string,
  entry: BytePath,
  work: (folder: string, name: BytePath) => Promise<T>,
): Promise<{ readonly done: T } | undefined> {
  const [folder] = foldersOf(entry);
  const pinned = await pinFolder(folder === undefined ? Buffer.from(root) : onDisk(root, folder)).catch(ifMoved);
  if (!pinned) return undefined;
  try {
    await pinned.check();
    return { done: await work(pinned.self, entry.slice(entry.lastIndexOf('/') + 1)) };
  } finally {
    await pinned.close();
  }
}

function ifMoved(error: unknown): undefined {
  if (!(error instanceof MovedError)) throw error;
}

/** Another program created it meanwhile. */
function ignoreExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

interface SwapPaths {
  readonly place: Buffer;
  /** The file that goes there; absent to leave nothing there. */
  readonly draft?: Buffer;
  /** Where the present file goes; absent if, as far as the host knows, there is none. */
  readonly aside?: Buffer;
}

/** The inode of what is in the place now; undefined if nothing is. */
type Placed = bigint | undefined;

/**
 * Moves a file aside and another one into its place, in two steps between which no other work of the host runs. Neither
 * step ever removes a file: if another program was faster, the step fails, or takes their file along, which `giveBack`
 * can return. Undefined when another program was faster; then everything is as they left it.
 */
function swap({ place, draft, aside }: SwapPaths): { readonly placed: Placed } | undefined {
  try {
    if (aside) renameSync(place, aside);
  } catch (error) {
    return orThrow(error);
  }
  try {
    if (draft) occupy(place, draft);
    return { placed: draft && numberOf(place) };
  } catch (error) {
    if (aside) giveBack({ place, aside }, undefined);
    return orThrow(error);
  }
}

/**
 * Puts back the file that was taken along, unless another program has created something else there since. Returns
 * whether it did.
 */
function giveBack({ place, aside }: Required<Pick<SwapPaths, 'place' | 'aside'>>, placed: Placed): boolean {
  if (numberOf(place) !== placed) return false;
  renameSync(aside, place);
  return true;
}

/** Fails when something is there. */
function occupy(place: Buffer, draft: Buffer): void {
  // Some systems follow a link here instead of copying it.
  if (lstatSync(draft).isSymbolicLink()) return symlinkSync(readlinkSync(draft, { encoding: 'buffer' }), place);
  try {
    linkSync(draft, place);
  } catch (error) {
    // Some disks cannot give a file two names.
    if (codeOf(error) === 'EEXIST' || numberOf(place) !== undefined) throw error;
    renameSync(draft, place);
  }
}

function numberOf(place: Buffer): Placed {
  return lstatSync(place, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** Another program removed the file, or created one. */
function orThrow(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EEXIST') return undefined;
  throw error;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
