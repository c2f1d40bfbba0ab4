/**
 * A folder that is held open, so that what is done in it is done there and nowhere else, whatever becomes of its path
 * meanwhile. Linux reaches what is in an open folder through `/proc/self/fd`. Other systems cannot do that from Node:
 * there the path is looked at again right before something is done, which leaves a gap of some microseconds.
 */
import { constants } from 'node:fs';
import { open, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { MovedError } from './errors.js';

export interface PinnedFolder {
  readonly real: string;
  /** The folder itself, as a path that leads to what is held. */
  readonly self: string;
  /** What has this name in it. A link of that name is still a link: open it without following. */
  at(name: string): string;
  /** Right before something is done: fails when the folder is not where it was. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Only the place, not the content: needs no right to read. Node has no name for it. */
const O_PATH = 0o10000000;
const PLACE_FLAGS = O_PATH | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
const KNOWN_FOLDERS = '/proc/self/fd';

/** Fails with a `MovedError` when there is no folder at this very path, or a link on the way. */
export function pinFolder(real: string): Promise<PinnedFolder> {
  return process.platform === 'linux' ? holdFolder(real) : lookAtFolder(real);
}

async function holdFolder(real: string): Promise<PinnedFolder> {
  const handle = await open(real, PLACE_FLAGS).catch(moved);
  const self = `${KNOWN_FOLDERS}/${handle.fd}`;
  const place = await readlink(self).catch(() => undefined);
  if (place !== real) {
    await handle.close();
    throw new MovedError(`${real} is not where it was`);
  }
  return {
    real,
    self,
    at: (name) => `${self}/${name}`,
    check: async () => {},
    close: () => handle.close(),
  };
}

async function lookAtFolder(real: string): Promise<PinnedFolder> {
  const first = await identityOf(real);
  const check = async () => {
    if ((await identityOf(real)) !== first) throw new MovedError(`${real} is not where it was`);
  };
  return { real, self: real, at: (name) => path.join(real, name), check, close: async () => {} };
}

/** Which folder is at this path; fails when the path leads over a link. */
async function identityOf(real: string): Promise<string> {
  const [now, { dev, ino }] = await Promise.all([realpath(real), stat(real, { bigint: true })]).catch(moved);
  if (now !== real) throw new MovedError(`${real} is not where it was`);
  return `${dev}:${ino}`;
}

function moved(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') throw new MovedError(String(error));
  throw error;
}
