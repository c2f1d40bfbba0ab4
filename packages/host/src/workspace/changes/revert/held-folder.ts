/**
 * A folder that is held open while something is put into it: it is put there and nowhere else, whatever becomes of the path
 * meanwhile. Names are bytes here, which is why this is not the one that clients' files are held by.
 */
import { constants } from 'node:fs';
import { open, readlink } from 'node:fs/promises';

/** Only the place, not the content. Node has no name for it. */
const O_PATH = 0o10000000;
const PLACE_FLAGS = O_PATH | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** Undefined when there is no folder at this very path, or a link on the way. */
export async function inHeldFolder<T>(
  place: Buffer,
  work: (folder: string) => Promise<T>,
): Promise<{ readonly done: T } | undefined> {
  // Other systems have no way from an open folder to what is in it. There the path was looked at just before.
  if (process.platform !== 'linux') return { done: await work(place.toString()) };
  const handle = await open(place, PLACE_FLAGS).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const self = `/proc/self/fd/${handle.fd}`;
    const isThere = (await readlink(self, { encoding: 'buffer' })).equals(place);
    return isThere ? { done: await work(self) } : undefined;
  } finally {
    await handle.close();
  }
}
