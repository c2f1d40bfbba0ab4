/**
 * Puts a content at a path of the folder, or takes away what is there: whole or not at all, and nowhere else. A person may
 * save the file at the very same moment. So what is there is not written over: it is moved aside, looked at once more, and
 * only then removed. Whatever turns out to be somebody's new version goes back to its place.
 */
import { randomUUID } from 'node:crypto';
import { chmod, lstat, open, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { oneAtATime } from '../../../core/util/one-at-a-time.js';
import { type BytePath, onDisk, shownPath } from '../../git/byte-path.js';
import { capture } from '../capture.js';
import type { ContentStore } from '../content-store.js';
import { type Entry, isSame } from '../entry.js';
import { checkFolders, inFolderOf, makeFolders, removeEmptyFolders } from './entry-folders.js';
import { NotPutError } from './not-put-error.js';
import { giveBack, swap } from './swap.js';

export interface Put {
  readonly path: BytePath;
  /** What is there as far as we know; something else is left alone. */
  readonly current?: Entry;
  readonly target?: Entry;
}

const NEW_MODE = { file: 0o666, exec: 0o777 } as const;
const BUSY = 'somebody is changing it right now';

export async function putEntry(root: string, put: Put, store: ContentStore): Promise<void> {
  // The agent's own tools wait for each other by this name, too.
  await oneAtATime(path.join(root, shownPath(put.path)), async () => {
    await checkFolders(root, put.path);
    if (put.target) await makeFolders(root, put.path);
    const held = await inFolderOf(root, put.path, (here, name) => exchange(here, { ...put, path: name }, store));
    if (!held) throw new NotPutError('the folder that it is in was moved, or is something else now');
    if (!put.target) await removeEmptyFolders(root, put.path);
  });
}

/** In the one folder that is held; the path is only a name. */
async function exchange(root: string, put: Put, store: ContentStore): Promise<void> {
  const { path: file, current, target } = put;
  const [draft, aside] = [temporaryName(), temporaryName()];
  try {
    if (target) await fill(root, { draft, file, target }, store);
    await check(root, file, current, store);
    const place = onDisk(root, file);
    const swapped = swap({
      place,
      ...(target && { draft: onDisk(root, draft) }),
      ...(current && { aside: onDisk(root, aside) }),
    });
    if (!swapped) throw new NotPutError(BUSY);
    if (!current) return;
    await check(root, aside, current, store).catch((error) => {
      if (giveBack({ place, aside: onDisk(root, aside) }, swapped.placed)) throw error;
      throw new NotPutError(`${BUSY}; what they had a moment ago is beside it, in ${aside}`);
    });
    await rm(onDisk(root, aside), { force: true });
  } finally {
    await rm(onDisk(root, draft), { force: true });
  }
}

async function check(root: string, file: BytePath, expected: Entry | undefined, store: ContentStore): Promise<void> {
  if (!isSame(await capture(root, file, store), expected)) throw new NotPutError(BUSY);
}

/** In the same folder, so that moving it to its place is one step. */
function temporaryName(): BytePath {
  return `.atrium-${randomUUID()}.tmp`;
}

interface Draft {
  readonly draft: BytePath;
  readonly file: BytePath;
  readonly target: Entry;
}

async function fill(root: string, { draft, file, target }: Draft, store: ContentStore): Promise<void> {
  const bytes = await store.read(target.hash);
  if (!bytes) throw new NotPutError('its content is not kept any more');
  const place = onDisk(root, draft);
  if (target.kind === 'link') return symlink(bytes, place);
  const handle = await open(place, 'wx', NEW_MODE[target.kind]);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  const there = await lstat(onDisk(root, file)).catch(() => undefined);
  if (there?.isFile()) await chmod(place, modeFor(there.mode, target.kind));
}

/** Who may read and write a file stays as it is; who may read it may execute it, or nobody may. */
function modeFor(mode: number, kind: 'file' | 'exec'): number {
  const permissions = mode & 0o777;
  return kind === 'exec' ? permissions | ((permissions & 0o444) >> 2) : permissions & ~0o111;
}
