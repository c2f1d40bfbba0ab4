/**
 * Reads a plain file as a whole, and nothing else: a pipe would keep its reader waiting, and a program has few of them.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/**
 * A link that is put in the place of a file meanwhile is not followed, and opening a pipe does not wait for its writer.
 */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const NOT_THERE: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

/** Undefined when there is no plain file, or one that is larger. */
export async function plainContent(file: string | Buffer, maxBytes: number): Promise<Buffer | undefined> {
  const handle = await open(file, READ_FLAGS).catch((error: NodeJS.ErrnoException) => {
    if (NOT_THERE.has(error.code)) return undefined;
    throw error;
  });
  if (!handle) return undefined;
  try {
    const stats = await handle.stat();
    return stats.isFile() && stats.size <= maxBytes ? await handle.readFile() : undefined;
  } finally {
    await handle.close();
  }
}
