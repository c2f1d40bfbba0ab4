/** The folder in which Atrium keeps what it must not forget: made, and closed to other users. */
import { chmod, mkdir, readdir, stat } from 'node:fs/promises';
import { NotPrivateError } from '@atrium/host';

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
    throw new NotPrivateError(`${folder} belongs to another user: choose one of your own`);
  if ((mode & OTHERS) === 0) return;
  const names = await readdir(folder);
  if (names.length > 0 && !MARKS.some((mark) => names.includes(mark))) {
    throw new NotPrivateError(
      `${folder} is open to other users and holds other files: choose an empty folder, or run chmod 700 on it`,
    );
  }
  await chmod(folder, OWNER_ONLY);
}

async function make(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: OWNER_ONLY });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const why = REASONS[code];
    if (why === undefined) throw error;
    throw new NotPrivateError(`${folder} cannot be the data folder: ${why}; name another with --data-dir`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file',
  ENOTDIR: 'part of its path is a file',
  EACCES: 'you may not write there',
  EROFS: 'it is on a read-only disk',
};
