/** Puts a new content in the place of a file, as a whole or not at all. Its mode stays, and its owner where possible. */
import { constants } from 'node:fs';
import { access, type FileHandle, open, rm } from 'node:fs/promises';
import { isSameVersion, versionOf } from '../tools/text-file.js';
import { conflict } from './errors.js';
import { COPY_CHUNK_BYTES } from './limits.js';
import type { PinnedFolder } from './pinned-folder.js';
import { type OpenFile, readBytes } from './plain-file.js';
import { takeName } from './take-name.js';
import { temporaryName } from './temporary.js';

const PERMISSION_BITS = 0o7777;
/** What a new file gets, less what the system takes away. */
const NEW_FILE = 0o666;
/** What takes the place of a file may be nobody else's business until it has that file's mode. */
const OWNER_ONLY = 0o600;

/** New bytes, or some of the old file. */
export type Piece = Buffer | { readonly start: number; readonly end: number };

export interface Replacement {
  readonly uri: string;
  readonly folder: PinnedFolder;
  readonly name: string;
  /** What is there now; undefined when nothing is. */
  readonly old: OpenFile | undefined;
  readonly pieces: readonly Piece[];
  /** Fails when something is there after all. */
  readonly mustBeNew: boolean;
  /** Fails when the old file has been changed meanwhile. */
  readonly mustBeSame: boolean;
}

export async function replaceWith(replacement: Replacement): Promise<void> {
  const { uri, folder, name, old, pieces, mustBeNew, mustBeSame } = replacement;
  // A rename would replace a file that may not be written.
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

/** Only the superuser can give files away; for anybody else the file was their own, or becomes so. */
async function makeAlike(handle: FileHandle, { stats: { uid, gid, mode } }: OpenFile): Promise<void> {
  const own = await handle.stat({ bigint: true });
  if (own.uid !== uid || own.gid !== gid) await handle.chown(Number(uid), Number(gid)).catch(() => {});
  await handle.chmod(Number(mode) & PERMISSION_BITS);
}
