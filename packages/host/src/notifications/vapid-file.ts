/** The keys by which push services recognise this host: made once, in a file that only its owner can read. */
import { lstat, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { NotPrivateError, writePrivateFile } from '@atrium/core/util/secrets.js';
import { newVapidKeys, type VapidKeys, vapidKeysOf } from './web-push.js';

export const VAPID_FILE = 'push-keys.json';

/**
 * Reads or creates the keys. Never replaces the file, because browsers that subscribed with a key stay bound to it.
 * Without a folder, the keys last for this run.
 */
export async function vapidKeys(dataFolder: string | undefined): Promise<VapidKeys> {
  if (dataFolder === undefined) return newVapidKeys();
  const file = path.join(dataFolder, VAPID_FILE);
  const stats = await lstat(file).catch(() => undefined);
  if (!stats) {
    const keys = newVapidKeys();
    await mkdir(dataFolder, { recursive: true, mode: 0o700 });
    await writePrivateFile(file, `${JSON.stringify(keys)}\n`);
    return keys;
  }
  if (!stats.isFile() || (process.platform !== 'win32' && (stats.mode & 0o077) !== 0))
    throw new NotPrivateError(`${file} can be read by others: chmod 600 it, or remove it and subscribe again`);
  return readKeys(await readFile(file, 'utf8'), file);
}

function readKeys(text: string, file: string): VapidKeys {
  try {
    const { publicKey, privateKey } = JSON.parse(text) as Partial<Record<keyof VapidKeys, unknown>>;
    const stored = Buffer.from(typeof privateKey === 'string' ? privateKey : '', 'base64url');
    // Earlier releases stored private keys without leading zeros.
    const keys = vapidKeysOf(stored);
    if (keys.publicKey === publicKey) return keys;
  } catch {
    // Reported below.
  }
  throw new Error(`${file} holds no keys: remove it, and browsers subscribe again`);
}
