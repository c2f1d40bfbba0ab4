/**
 * A folder that is held open, so that work in it happens there and nowhere else, whatever becomes of its path. Linux
 * reaches entries of an open folder through `/proc/self/fd`. Other systems cannot do that from Node: there the path is
 * checked again right before each step, which leaves a gap of some microseconds. Also opens files in such a folder, and
 * gives entries in it their final names.
 */
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { PinnedEntry } from './file-access.js';
import { invalid, MovedError, notFound, refused } from './file-errors.js';

/** Refers only to the place, not the content, so it needs no right to read. Node has no constant for it. */
const O_PATH = 0o10000000;
const PLACE_FLAGS = O_PATH | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
const KNOWN_FOLDERS = '/proc/self/fd';
const NO_LINKS = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
export const READING = constants.O_RDONLY | NO_LINKS;
export const APPENDING = constants.O_WRONLY | constants.O_APPEND | NO_LINKS;
const PATTERN = /^\.atrium-[\da-f-]{36}\.tmp$/;

export interface PinnedFolder {
  readonly real: string;
  /** A path that leads to the open folder itself. */
  readonly self: string;
  /** The path of an entry in the folder. It may be a link: open it without following. */
  at(name: string): string;
  /** Call it right before each step: fails when the folder is not where it was. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Fails with a `MovedError` when no folder is at this exact path, or a link is on the way. A path that is not valid
 * text is passed as bytes.
 */
export function pinFolder(real: string | Buffer): Promise<PinnedFolder> {
  return process.platform === 'linux' ? openByHandle(real) : openChecked(real.toString());
}

async function openByHandle(real: string | Buffer): Promise<PinnedFolder> {
  const handle = await open(real, PLACE_FLAGS).catch(moved);
  const self = `${KNOWN_FOLDERS}/${handle.fd}`;
  const target = await readlink(self, { encoding: 'buffer' }).catch(() => undefined);
  if (!target?.equals(Buffer.from(real))) {
    await handle.close();
    throw new MovedError(`${real} is not where it was`);
  }
  return {
    real: real.toString(),
    self,
    at: (name) => `${self}/${name}`,
    check: async () => {},
    close: () => handle.close(),
  };
}

async function openChecked(real: string): Promise<PinnedFolder> {
  const first = await identityOf(real);
  const check = async () => {
    if ((await identityOf(real)) !== first) throw new MovedError(`${real} is not where it was`);
  };
  return { real, self: real, at: (name) => path.join(real, name), check, close: async () => {} };
}

/** Identifies the folder at this path; fails when the path contains a link. */
async function identityOf(real: string): Promise<string> {
  const [now, { dev, ino }] = await Promise.all([realpath(real), stat(real, { bigint: true })]).catch(moved);
  if (now !== real) throw new MovedError(`${real} is not where it was`);
  return `${dev}:${ino}`;
}

function moved(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') throw new MovedError(String(error));
  throw error;
}

export interface OpenFile {
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
}

/** Fails when it is not a plain file; undefined when it does not exist. */
export function plainStats({ uri, stats }: Pick<PinnedEntry, 'uri' | 'stats'>): BigIntStats | undefined {
  if (stats?.isDirectory()) throw invalid(`${uri} is a folder: list it with resourceList`);
  if (stats && !stats.isFile()) throw refused(`${uri} is neither a file nor a folder`);
  return stats;
}

/**
 * Opens plain files only, because a pipe, a device or a socket could block its reader for ever. Checks before opening,
 * and again afterwards, when the result is certain.
 */
export async function withFile<T>(entry: PinnedEntry, flags: number, act: (file: OpenFile) => Promise<T>): Promise<T> {
  if (!plainStats(entry)) throw notFound(entry.uri);
  const file = await openPlain(entry.held, entry.name, flags);
  try {
    plainStats({ uri: entry.uri, stats: file.stats });
    return await act(file);
  } finally {
    await file.handle.close();
  }
}

export async function openPlain(folder: PinnedFolder, name: string, flags: number): Promise<OpenFile> {
  await folder.check();
  const handle = await open(folder.at(name), flags);
  try {
    return { handle, stats: await handle.stat({ bigint: true }) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Bytes from `start` to `end`; fewer if the file has become shorter meanwhile. */
export async function readBytes({ handle }: OpenFile, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(end - start);
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

interface Naming {
  readonly from: string;
  readonly to: { readonly folder: PinnedFolder; readonly name: string };
  readonly isFolder: boolean;
  /** Fails with `EEXIST` when the name is taken. */
  readonly mustBeNew: boolean;
}

/**
 * Gives an entry its final name. If nothing may be overwritten, it reserves the name first, which only one caller can
 * do.
 */
export async function takeName({ from, to: { folder, name }, isFolder, mustBeNew }: Naming): Promise<void> {
  const target = folder.at(name);
  await folder.check();
  if (mustBeNew) await (isFolder ? mkdir(target) : (await open(target, 'wx')).close());
  try {
    await rename(from, target);
  } catch (error) {
    if (mustBeNew) await (isFolder ? rmdir(target) : rm(target, { force: true })).catch(() => {});
    throw error;
  }
}

/** A name for an unfinished file, in the folder of its final name, so that finishing it is only a rename. */
export function temporaryName(): string {
  return `.atrium-${crypto.randomUUID()}.tmp`;
}

export function isTemporary(name: string): boolean {
  return PATTERN.test(name);
}
