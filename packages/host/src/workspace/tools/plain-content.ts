/** Reads a whole plain file, and refuses anything else: reading a pipe blocks one of Node's few file system threads. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Neither follows a link that replaced the file meanwhile, nor waits for the writer of a pipe. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const MISSING_CODES: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

/** Undefined when there is no plain file, or when it is larger than `maxBytes`. */
export async function plainContent(file: string | Buffer, maxBytes: number): Promise<Buffer | undefined> {
  const handle = await open(file, READ_FLAGS).catch((error: NodeJS.ErrnoException) => {
    if (MISSING_CODES.has(error.code)) return undefined;
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
