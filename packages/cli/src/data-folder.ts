/** Finds the data folder, and makes it private to its owner. */
import { chmod, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder as makeMissing } from '@atrium/host/folders';
import { UsageError } from './exit.js';
import { io } from './io.js';

const OWNER_ONLY = 0o700;
const OTHERS = 0o077;
/** A folder with one of these has been a data folder before. */
const MARKS = ['atrium.db', 'instances'];

/**
 * Makes the folder, or closes it to others. Refuses a folder that holds other files, and does not change it: the user
 * may have
 * named a home or system folder by mistake.
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

interface FolderUse {
  /** The purpose of the folder, in words. */
  readonly what: string;
  /** The option that names another folder. */
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

interface SystemInfo {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** The usual place on each system. */
export function defaultDataFolder({ platform, env, home }: SystemInfo): string {
  if (platform === 'win32')
    return path.win32.join(env.LOCALAPPDATA || path.win32.join(home, 'AppData', 'Local'), 'atrium');
  if (platform === 'darwin') return path.posix.join(home, 'Library', 'Application Support', 'atrium');
  const shared = env.XDG_DATA_HOME;
  const base = shared && path.posix.isAbsolute(shared) ? shared : path.posix.join(home, '.local', 'share');
  return path.posix.join(base, 'atrium');
}

export function dataFolderFrom(named: string | undefined, env: NodeJS.ProcessEnv): string {
  // An empty path would mean the current folder, which nobody intends.
  if (named?.trim() === '') throw new UsageError('--data-dir: name a folder, or leave it out for the usual one');
  return path.resolve(named ?? defaultDataFolder({ platform: process.platform, env, home: io().home }));
}
