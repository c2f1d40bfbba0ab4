/** Captures what is at a path now: a file, a link, or nothing of the kind. Its content goes into a blob store. */
import type { BigIntStats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import { mapSome } from '@atrium/core/util/scheduling.js';
import { type BytePath, onDisk } from '../git/byte-path.js';
import { plainContent } from '../tools/plain-content.js';
import type { Entry } from './change.js';
import type { SnapshotBlobs } from './change-storage.js';
import type { Seen } from './folder-snapshots.js';
import { CONTENT_MAX_BYTES, FILES_AT_ONCE, FOLDER_MAX_BYTES, FOLDER_MAX_FILES, TIME_GRAIN_MS } from './limits.js';

/** A file may grow a little between `lstat` and reading. */
const READ_MAX_BYTES = 2 * CONTENT_MAX_BYTES;
const ANY_EXECUTE = 0o111n;

/** Undefined when the path has neither a file nor a link. */
export async function capture(root: string, path: BytePath, blobs: BlobStore): Promise<Entry | undefined> {
  const stats = await statsOf(root, path);
  return stats && read(onDisk(root, path), stats, blobs);
}

export async function statsOf(root: string, path: BytePath): Promise<BigIntStats | undefined> {
  return lstat(onDisk(root, path), { bigint: true }).catch(ifMissing);
}

/** Captures a whole folder repeatedly, and reads only what may have changed since the last time. */
export class Captures {
  readonly #known = new Map<BytePath, { readonly stamp: string; readonly entry: Entry }>();

  constructor(
    private readonly root: string,
    private readonly blobs: SnapshotBlobs,
  ) {}

  async capture(path: BytePath): Promise<Entry | undefined> {
    const stats = await statsOf(this.root, path);
    const known = this.#known.get(path);
    if (!stats) {
      this.#known.delete(path);
      return undefined;
    }
    const stamp = `${this.blobs.generation}:${stampOf(stats)}`;
    if (known?.stamp === stamp) return known.entry;
    const readAt = Date.now();
    const entry = await read(onDisk(this.root, path), stats, this.blobs);
    const isOld = readAt - Number(stats.mtimeMs) > TIME_GRAIN_MS && readAt - Number(stats.ctimeMs) > TIME_GRAIN_MS;
    // Deleted files are never reported, so their entries are cleared with all others.
    if (this.#known.size > 2 * FOLDER_MAX_FILES) this.#known.clear();
    if (entry && isOld) this.#known.set(path, { stamp, entry });
    else this.#known.delete(path);
    return entry;
  }
}

function stampOf({ ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs, mode].join(':');
}

async function read(file: Buffer, stats: BigIntStats, blobs: BlobStore): Promise<Entry | undefined> {
  if (stats.isSymbolicLink()) {
    const target = await readlink(file, { encoding: 'buffer' });
    return { kind: 'link', hash: await blobs.put(target), bytes: target.length };
  }
  if (!stats.isFile()) return undefined;
  const kind = stats.mode & ANY_EXECUTE ? 'exec' : 'file';
  if (stats.size > CONTENT_MAX_BYTES) {
    return { kind, hash: `large-${stats.size}-${stats.mtimeNs}`, bytes: Number(stats.size), isLost: true };
  }
  const bytes = await plainContent(file, READ_MAX_BYTES);
  return bytes && { kind, hash: await blobs.put(bytes), bytes: bytes.length };
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'ELOOP') return undefined;
  throw error;
}

interface CapturedAll {
  /** Paths without a file are absent. */
  readonly files: Map<BytePath, Seen>;
  /** Whether there was more than the limit. */
  readonly isCut: boolean;
}

/** Captures many files, several at a time, up to a limit of bytes. */
export async function captureAll(
  captures: Captures,
  paths: readonly BytePath[],
  signal: AbortSignal,
): Promise<CapturedAll> {
  const files = new Map<BytePath, Seen>();
  let bytes = 0;
  let isCut = false;
  await mapSome(paths, FILES_AT_ONCE, async (path) => {
    signal.throwIfAborted();
    if (bytes > FOLDER_MAX_BYTES) {
      isCut = true;
      return;
    }
    const now = await captures.capture(path);
    if (now) files.set(path, { now });
    bytes += now && !now.isLost ? now.bytes : 0;
  });
  return { files, isCut };
}
