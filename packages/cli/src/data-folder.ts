/** The folder in which Atrium keeps what it must not forget: made, and closed to other users. */
import { chmod, readdir, stat } from 'node:fs/promises';
import { makeFolder as makeMissing } from '@atrium/host/folders';
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
  await makeFolder(folder, { what: 'the data folder', option: '--data-dir' });
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

export interface FolderUse {
  /** What it is for, in words. */
  readonly what: string;
  /** How another one is named. */
  readonly option: string;
}

export async function makeFolder(folder: string, { what, option }: FolderUse): Promise<void> {
  try {
    await makeMissing(folder, { mode: OWNER_ONLY });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const why = REASONS[code];
    if (why === undefined) throw error;
    throw new UsageError(`${folder} cannot be ${what}: ${why}; name another with ${option}`);
  }
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
