/** Names a version of a file. A small one by its content, so that even two changes within one tick of the clock differ. */
import { createHash } from 'node:crypto';
import { ETAG_HASH_MAX_BYTES } from './limits.js';
import { type OpenFile, readBytes } from './plain-file.js';

const HASH_CHARACTERS = 32;

export async function etagOf(file: OpenFile): Promise<string> {
  const { size, mtimeNs, ctimeNs, ino } = file.stats;
  if (size > ETAG_HASH_MAX_BYTES) return [size, mtimeNs, ctimeNs, ino].map((part) => part.toString(36)).join('-');
  const hash = createHash('sha256').update(await readBytes(file, 0, Number(size)));
  return hash.digest('base64url').slice(0, HASH_CHARACTERS);
}
