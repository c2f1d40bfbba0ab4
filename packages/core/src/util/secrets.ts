/** Random tokens, compared in constant time, and files that only their owner can read. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { lstat, open, rename, rm } from 'node:fs/promises';

export const TOKEN_BYTES = 32;

export function newToken(random: (bytes: number) => Buffer = randomBytes): string {
  return random(TOKEN_BYTES).toString('base64url');
}

/** What the host keeps of a token, to compare with. */
export type TokenDigest = Buffer;

export function digestOf(token: string): TokenDigest {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** Compares a token. Digests have one length, so this takes the same time whatever is offered. */
export function matchesToken(offered: string, expected: TokenDigest): boolean {
  return timingSafeEqual(digestOf(offered), expected);
}

const OWNER_ONLY = 0o600;

/** The folder or file cannot keep a secret in its present state. The message says what to do. */
export class NotPrivateError extends Error {
  override readonly name = 'NotPrivateError';
}

/**
 * Writes a new file and renames it: a reader sees the old text or the new one, never a part, and no link is followed.
 */
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
