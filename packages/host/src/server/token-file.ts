/**
 * The connection token and its file: a program that can read the file may connect. The token never goes to a log, a
 * screen or a listing.
 */
import { lstat, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { digestOf, matchesToken, writePrivateFile } from '@atrium/core/util/secrets.js';

export const TOKEN_FILE = 'connection-token';
/** The shortest token that a person should choose. */
export const TOKEN_ADVISED_CHARACTERS = 16;
/** The length of tokens from `newToken`; a token that a person chose for a single start is not reused. */
const MADE_BY_US = /^[\w-]{43}$/;

/** Whether the text needs no escaping in a header or a query. */
export function isTokenText(text: string): boolean {
  return /^[\w.~-]+$/.test(text);
}

export interface StoredToken {
  readonly file: string;
  /** Removes the file, unless another token has replaced it. */
  remove(): Promise<void>;
}

export async function storeToken(dataFolder: string, token: string): Promise<StoredToken> {
  const file = path.join(dataFolder, TOKEN_FILE);
  await writePrivateFile(file, `${token}\n`);
  return { file, remove: () => removeOwn(file, token) };
}

/**
 * The token that an earlier host created in this folder. The next host keeps it, so that clients reconnect by
 * themselves after a stop or a crash. A file that other users could read or write is ignored.
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
