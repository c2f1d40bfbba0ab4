/**
 * `resourceWrite` and `resourceMkdir`. A file is written as a whole, truncated, appended to, or changed in the middle.
 */
import { constants } from 'node:fs';
import { access, type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { oneAtATime } from '@atrium/core/util/scheduling.js';
import type { ResourceWriteParams } from '@atrium/protocol/ahp-1';
import { FILE_MAX_BYTES } from '../../plugins/formats/limits.js';
import { isSameVersion, versionOf } from '../tools/text-files.js';
import type { FileAccess, PinnedEntry } from './file-access.js';
import { alreadyExists, codeOf, conflict, invalid, notFound, refused } from './file-errors.js';
import {
  APPENDING,
  type OpenFile,
  openPlain,
  type PinnedFolder,
  pinFolder,
  plainStats,
  READING,
  readBytes,
  takeName,
  temporaryName,
} from './pinned-folder.js';
import { etagOf } from './read.js';

/** How much of a file is rewritten when something is inserted in the middle. */
export const REWRITE_MAX_BYTES = 256 * 2 ** 20;
const COPY_CHUNK_BYTES = 2 ** 20;
const PERMISSION_BITS = 0o7777;
/** The mode of a new file, before the umask. */
const NEW_FILE = 0o666;
/** The mode of a replacement until it gets the mode of the old file, which may be private. */
const OWNER_ONLY = 0o600;
/** Either alphabet, with or without line breaks and padding. */
const BASE64 = /^[\w+/\s-]*={0,2}\s*$/;

export function writeFile(files: FileAccess, clientId: string, params: ResourceWriteParams): Promise<void> {
  const { uri } = params;
  const edit = editOf(params);
  return files.at({ uri, clientId, access: 'write' }, async (entry) => {
    if (entry.directory !== undefined) checkCustomization(edit);
    plainStats(entry);
    if (entry.isDeadLink) throw refused(`${uri} is a link to nothing`);
    const folder = await folderFor(entry);
    const target = { uri, folder, name: entry.names.at(-1) ?? '' };
    const write = () => writeNow(target, edit);
    // Changes of one file wait for each other, even if a tool makes one of them, so that none overwrites the other.
    return oneAtATime(entry.real, write).finally(() => folder !== entry.held && folder.close());
  });
}

/** The change that a `resourceWrite` requests. */
interface Edit {
  readonly data: Buffer;
  readonly mode: 'truncate' | 'append' | 'insert';
  readonly position: number;
  readonly createOnly: boolean;
  readonly ifMatch: string | undefined;
}

/** The file to write, with its folder held open. */
interface Target {
  readonly uri: string;
  readonly folder: PinnedFolder;
  readonly name: string;
}

function editOf({ uri, ...params }: ResourceWriteParams): Edit {
  const { data, encoding, mode = 'truncate', position = 0, createOnly = false, ifMatch } = params;
  if (!Number.isSafeInteger(position) || position < 0) throw invalid('/position must be a whole number, not below 0');
  const isBase64 = encoding === 'base64';
  // Node would decode invalid base64 to something shorter and write that.
  if (isBase64 && !BASE64.test(data)) throw invalid('/data must be base64, as /encoding says');
  return { data: Buffer.from(data, isBase64 ? 'base64' : 'utf8'), mode, position, createOnly, ifMatch };
}

/** Customizations are small, and written as a whole. */
function checkCustomization({ data, mode, position }: Edit): void {
  if (mode !== 'truncate' || position !== 0) {
    throw invalid('/mode: a customization is written as a whole, without mode and position');
  }
  if (data.length > FILE_MAX_BYTES) throw invalid(`/data: a customization may have at most ${FILE_MAX_BYTES} bytes`);
}

/** Missing folders are created only for customizations. */
async function folderFor({ held, names, directory, uri }: PinnedEntry): Promise<PinnedFolder> {
  if (names.length === 1) return held;
  if (directory === undefined) throw notFound(uri, 'has no folder: make it with resourceMkdir first');
  return makeFolders(held, names.slice(0, -1));
}

async function writeNow(target: Target, edit: Edit): Promise<void> {
  const old = await openExisting(target);
  try {
    await check(target, old, edit);
    if (old && edit.mode === 'append' && edit.position === 0) await append(target, old, edit.data);
    else await replace(target, old, edit);
  } finally {
    await old?.handle.close();
  }
}

async function openExisting({ folder, name, uri }: Target): Promise<OpenFile | undefined> {
  const file = await openPlain(folder, name, READING).catch((error) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (file && !file.stats.isFile()) {
    await file.handle.close();
    throw refused(`${uri} is not a plain file`);
  }
  return file;
}

async function check(
  { uri }: Target,
  old: OpenFile | undefined,
  { createOnly, ifMatch, position }: Edit,
): Promise<void> {
  if (old && createOnly) throw alreadyExists(uri);
  if (ifMatch !== undefined && (!old || (await etagOf(old)) !== ifMatch)) throw conflict(uri);
  const size = Number(old?.stats.size ?? 0);
  if (position > size) throw invalid(`/position must be within the file, which has ${size} bytes`);
}

/** Appends in place, so that nothing is lost that another program appends at the same moment. */
async function append({ folder, name }: Target, { stats }: OpenFile, data: Buffer): Promise<void> {
  const file = await openPlain(folder, name, APPENDING);
  try {
    if (file.stats.ino !== stats.ino || !file.stats.isFile()) throw refused('the file was replaced meanwhile');
    await file.handle.appendFile(data);
  } finally {
    await file.handle.close();
  }
}

function replace({ uri, folder, name }: Target, old: OpenFile | undefined, edit: Edit): Promise<void> {
  const { createOnly, ifMatch } = edit;
  const size = Number(old?.stats.size ?? 0);
  const pieces = piecesOf(edit, size);
  const isOldUsed = pieces.length > 1;
  if (isOldUsed && size > REWRITE_MAX_BYTES) throw invalid(`${uri} is too large to be changed in the middle`);
  const mustBeSame = isOldUsed || ifMatch !== undefined;
  return replaceWith({ uri, folder, name, old, pieces, mustBeNew: createOnly, mustBeSame });
}

function piecesOf({ data, mode, position }: Edit, size: number): Piece[] {
  const at = mode === 'append' ? size - position : position;
  const behind = mode === 'truncate' ? [] : [{ start: at, end: size }];
  return [{ start: 0, end: at }, data, ...behind].filter((piece) => Buffer.isBuffer(piece) || piece.end > piece.start);
}

/** New bytes, or a range of the old file. */
type Piece = Buffer | { readonly start: number; readonly end: number };

interface Replacement {
  readonly uri: string;
  readonly folder: PinnedFolder;
  readonly name: string;
  /** The existing file, if any. */
  readonly old: OpenFile | undefined;
  readonly pieces: readonly Piece[];
  /** Fails when a file appeared meanwhile. */
  readonly mustBeNew: boolean;
  /** Fails when the old file has changed meanwhile. */
  readonly mustBeSame: boolean;
}

/** Replaces a file completely or not at all. It keeps its mode, and its owner where possible. */
async function replaceWith(replacement: Replacement): Promise<void> {
  const { uri, folder, name, old, pieces, mustBeNew, mustBeSame } = replacement;
  // A rename would replace even a file that the host may not write.
  if (old) await access(folder.at(name), constants.W_OK);
  await folder.check();
  const temporary = folder.at(temporaryName());
  try {
    const handle = await open(temporary, 'wx', old ? OWNER_ONLY : NEW_FILE);
    await fill(handle, old, pieces).finally(() => handle.close());
    if (mustBeSame && !isSameVersion(old?.stats, await versionOf(folder.at(name)))) throw conflict(uri);
    await takeName({ from: temporary, to: { folder, name }, isFolder: false, mustBeNew });
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function fill(handle: FileHandle, old: OpenFile | undefined, pieces: readonly Piece[]): Promise<void> {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) await handle.writeFile(piece);
    else if (old) await copyRange(old, handle, piece);
  }
  if (old) await makeAlike(handle, old);
  await handle.sync();
}

async function copyRange(
  from: OpenFile,
  to: FileHandle,
  { start, end }: { start: number; end: number },
): Promise<void> {
  for (let at = start; at < end; at += COPY_CHUNK_BYTES) {
    await to.writeFile(await readBytes(from, at, Math.min(at + COPY_CHUNK_BYTES, end)));
  }
}

/** Only the superuser can give files away; for anyone else the file already was theirs, or becomes theirs. */
async function makeAlike(handle: FileHandle, { stats: { uid, gid, mode } }: OpenFile): Promise<void> {
  const own = await handle.stat({ bigint: true });
  if (own.uid !== uid || own.gid !== gid) await handle.chown(Number(uid), Number(gid)).catch(() => {});
  await handle.chmod(Number(mode) & PERMISSION_BITS);
}

export function makeFolder(files: FileAccess, clientId: string, uri: string): Promise<void> {
  return files.at({ uri, clientId, access: 'write' }, async ({ stats, held, names, isDeadLink }) => {
    if (stats?.isDirectory()) return;
    if (stats || isDeadLink) throw alreadyExists(uri, 'is there already, and not a folder');
    await (await makeFolders(held, names)).close();
  });
}

/** Creates missing folders one below the other, and holds the innermost open. `above` stays open. */
export async function makeFolders(above: PinnedFolder, names: readonly string[]): Promise<PinnedFolder> {
  let folder = above;
  for (const name of names) {
    const outer = folder;
    folder = await makeOne(outer, name).finally(() => outer !== above && outer.close());
  }
  return folder;
}

async function makeOne(folder: PinnedFolder, name: string): Promise<PinnedFolder> {
  await folder.check();
  await mkdir(folder.at(name)).catch(ignoreExists);
  return pinFolder(path.join(folder.real, name));
}

/** Another request or program was faster. Opening it shows whether it created a folder. */
function ignoreExists(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}
