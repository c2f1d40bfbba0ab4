/** Files that only their owner can read, and that appear whole or not at all. */

import { randomBytes } from 'node:crypto';
import { lstat, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { digestOf, matchesToken } from '../core/util/token.js';

const OWNER_ONLY = 0o600;

/** The folder or file cannot keep a secret as it is. The message says what to do. */
export class NotPrivateError extends Error {
  override readonly name = 'NotPrivateError';
}

/** Writes beside the file and renames: a reader sees the old text or the new one, never a part, and no link is followed. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  await refuseLink(file);
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeNew(draft, text);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function writeNew(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', OWNER_ONLY);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function refuseLink(file: string): Promise<void> {
  const stats = await lstat(file).catch(() => undefined);
  if (stats?.isSymbolicLink()) {
    throw new NotPrivateError(`${file} is a symbolic link, which we never make: remove it and start again`);
  }
}

/** The connection token: whoever can read its file may connect. It never goes to a log, a screen or a listing. */

export const TOKEN_FILE = 'connection-token';
/** A token that somebody chose should not be shorter. */
export const TOKEN_ADVISED_CHARACTERS = 16;

/** As long as `newToken` makes them; one that somebody chose for a single start is not kept. */
const MADE_BY_US = /^[\w-]{43}$/;

/** Characters that mean themselves in a header and in a query. */
export function isTokenText(text: string): boolean {
  return /^[\w.~-]+$/.test(text);
}

export interface StoredToken {
  readonly file: string;
  /** Removes the file, unless somebody has put another token there. */
  remove(): Promise<void>;
}

export async function storeToken(dataFolder: string, token: string): Promise<StoredToken> {
  const file = path.join(dataFolder, TOKEN_FILE);
  await writePrivateFile(file, `${token}\n`);
  return { file, remove: () => removeOwn(file, token) };
}

/**
 * The token that an earlier host made and kept in this folder. The next one goes on with it, so that clients come back by
 * themselves after a stop or a crash. What others could have read or written there is not taken.
 */
export async function keptToken(dataFolder: string): Promise<string | undefined> {
  const file = path.join(dataFolder, TOKEN_FILE);
  const stats = await lstat(file).catch(() => undefined);
  const isOurs = stats?.isFile() && (stats.mode & 0o077) === 0 && stats.uid === (process.getuid?.() ?? stats.uid);
  const text = isOurs ? await readToken(file).catch(() => '') : '';
  return MADE_BY_US.test(text) ? text : undefined;
}

/** The token in a file, without the line end that editors add. */
export async function readToken(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).trim();
}

async function removeOwn(file: string, token: string): Promise<void> {
  const found = await readToken(file).catch(() => undefined);
  if (found !== undefined && matchesToken(found, digestOf(token))) await rm(file, { force: true });
}
