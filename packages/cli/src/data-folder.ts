/** The folder in which Atrium keeps what it must not forget: made, and closed to other users. */
import { chmod, mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from './exit.js';

const OWNER_ONLY = 0o700;
const OTHERS = 0o077;
/** Whoever has one of these has been our data folder before. */
const MARKS = ['atrium.db', 'instances'];

/**
 * Makes the folder, or closes it to others. A folder that holds other things is left as it is and refused: somebody may
 * have named a home or system folder by mistake.
 */
export async function makePrivate(folder: string): Promise<void> {
  await make(folder);
  if (process.platform === 'win32') return;
  const { mode, uid } = await stat(folder);
  if (uid !== process.getuid?.())
    throw new UsageError(`${folder} belongs to another user: choose one of your own with --data-dir`);
  if ((mode & OTHERS) === 0) return;
  const names = await readdir(folder);
  if (names.length > 0 && !MARKS.some((mark) => names.includes(mark))) {
    throw new UsageError(
      `${folder} is open to other users and holds other files: choose an empty folder, or run chmod 700 on it`,
    );
  }
  await chmod(folder, OWNER_ONLY);
}

/** Level by level: on file systems that make no folders, such as /proc, `recursive` tries again without end. */
async function make(folder: string): Promise<void> {
  try {
    await mkdirs(folder);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const why = REASONS[code];
    if (why === undefined) throw error;
    throw new UsageError(`${folder} cannot be the data folder: ${why}; name another with --data-dir`);
  }
}

async function mkdirs(folder: string): Promise<void> {
  const found = await stat(folder).catch(missing);
  if (found?.isDirectory()) return;
  const parent = path.dirname(folder);
  if (!found && parent !== folder) await mkdirs(parent);
  await mkdir(folder, { mode: OWNER_ONLY }).catch(async (error) => {
    // Another process may have been faster.
    const isThere = (await stat(folder).catch(() => undefined))?.isDirectory();
    if (!isThere) throw error;
  });
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file',
  ENOTDIR: 'part of its path is a file',
  ENOENT: 'no folder can be made there',
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'it is on a read-only disk',
  ENOSPC: 'the disk is full',
  ENAMETOOLONG: 'its name is too long',
};
