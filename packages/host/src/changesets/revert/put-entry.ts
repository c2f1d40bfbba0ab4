/** Puts a content at a path of the folder, or takes away what is there: whole or not at all, and nowhere else. */
import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, open, realpath, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises';
import path from 'node:path';
import { oneAtATime } from '../../tools/one-at-a-time.js';
import { type BytePath, foldersOf, onDisk, shownPath } from '../byte-path.js';
import { capture } from '../capture.js';
import type { ContentStore } from '../content-store.js';
import { type Entry, isSame } from '../entry.js';

/** It was not put there, and nothing was changed. The message says why. */
export class NotPutError extends Error {
  override readonly name = 'NotPutError';
}

export interface Put {
  readonly path: BytePath;
  /** What is there as far as we know; something else is left alone. */
  readonly current?: Entry;
  readonly target?: Entry;
}

const NEW_MODE = { file: 0o666, exec: 0o777 } as const;

export async function putEntry(root: string, put: Put, store: ContentStore): Promise<void> {
  // The agent's own tools wait for each other by this name, too.
  await oneAtATime(path.join(root, shownPath(put.path)), async () => {
    await checkFolders(root, put.path);
    if (put.target) await write(root, { ...put, target: put.target }, store);
    else await remove(root, put, store);
  });
}

/** No folder on the way may be a link: it would lead elsewhere than it did. */
export async function checkFolders(root: string, file: BytePath): Promise<void> {
  for (const folder of foldersOf(file)) {
    const place = onDisk(root, folder);
    const real = await realpath(place, { encoding: 'buffer' }).catch(() => undefined);
    if (!real) continue;
    if (!real.equals(onDisk(root, folder))) throw new NotPutError('a folder that it is in has become a link');
    return;
  }
}

async function write(root: string, put: Put & { readonly target: Entry }, store: ContentStore): Promise<void> {
  const file = onDisk(root, put.path);
  const folder = foldersOf(put.path)[0];
  const place = folder === undefined ? Buffer.from(root) : onDisk(root, folder);
  await mkdir(place, { recursive: true });
  const draft = Buffer.concat([place, Buffer.from(`/.atrium-${randomUUID()}.tmp`)]);
  try {
    await fill(draft, file, put, store);
    await checkUnchanged(root, put, store);
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

async function fill(draft: Buffer, file: Buffer, { target }: Put & { readonly target: Entry }, store: ContentStore) {
  const bytes = await store.read(target.hash);
  if (!bytes) throw new NotPutError('its content is not kept any more');
  if (target.kind === 'link') return symlink(bytes, draft);
  const handle = await open(draft, 'wx', NEW_MODE[target.kind]);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  const there = await lstat(file).catch(() => undefined);
  if (there?.isFile()) await chmod(draft, modeFor(there.mode, target.kind));
}

/** Who may read and write a file stays as it is; who may read it may execute it, or nobody may. */
function modeFor(mode: number, kind: 'file' | 'exec'): number {
  const permissions = mode & 0o777;
  return kind === 'exec' ? permissions | ((permissions & 0o444) >> 2) : permissions & ~0o111;
}

async function remove(root: string, put: Put, store: ContentStore): Promise<void> {
  await checkUnchanged(root, put, store);
  if (put.current) await unlink(onDisk(root, put.path));
  // As Git does, folders go with the last file in them.
  for (const folder of foldersOf(put.path)) {
    const isEmpty = await rmdir(onDisk(root, folder)).then(
      () => true,
      () => false,
    );
    if (!isEmpty) return;
  }
}

async function checkUnchanged(root: string, { path, current }: Put, store: ContentStore): Promise<void> {
  if (!isSame(await capture(root, path, store), current)) throw new NotPutError('somebody is changing it right now');
}
