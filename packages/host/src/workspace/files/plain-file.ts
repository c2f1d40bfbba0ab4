/** Opens plain files and nothing else: a pipe, a device or a socket could keep its reader waiting for ever. */
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { invalid, notFound, refused } from './errors.js';
import type { PinnedFolder } from './pinned-folder.js';
import type { Place } from './places.js';

const NO_LINKS = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
export const READING = constants.O_RDONLY | NO_LINKS;
export const APPENDING = constants.O_WRONLY | constants.O_APPEND | NO_LINKS;

export interface OpenFile {
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
}

/** Fails when it is anything else; a file that is not there is undefined. */
export function plainStats({ uri, stats }: Pick<Place, 'uri' | 'stats'>): BigIntStats | undefined {
  if (stats?.isDirectory()) throw invalid(`${uri} is a folder: list it with resourceList`);
  if (stats && !stats.isFile()) throw refused(`${uri} is neither a file nor a folder`);
  return stats;
}

/** Looked at before it is opened, and again when it is open: only then it is certain what it is. */
export async function withFile<T>(place: Place, flags: number, act: (file: OpenFile) => Promise<T>): Promise<T> {
  if (!plainStats(place)) throw notFound(place.uri);
  const file = await openPlain(place.held, place.name, flags);
  try {
    plainStats({ uri: place.uri, stats: file.stats });
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

/** Bytes from `start` to `end`; fewer when the file has become shorter meanwhile. */
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
