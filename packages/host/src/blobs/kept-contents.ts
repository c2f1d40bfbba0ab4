/**
 * Large contents of sessions, such as the output of a tool. Each is kept once, by its hash, and sessions name it. What no
 * session names any more is removed now and then (see `sweep.ts`).
 */
import { createHash } from 'node:crypto';
import { readdir, stat, unlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import type { ContentRef } from '@atrium/protocol';
import { oneAtATime } from '../core/util/one-at-a-time.js';
import { ContentStore } from '../workspace/changes/content-store.js';
import { typeOfBytes } from '../workspace/files/content-type.js';
import type { ContentReader, StoredContent } from '../workspace/files/read.js';

export const KEPT_SCHEME = 'atrium-content:';
const KEPT_URI = /^atrium-content:\/([0-9a-f]{64})$/;
/** What is in the store: contents by their hash, and what a host that was killed had not finished writing. */
const STORED = /^[0-9a-f]{64}(\.[0-9a-f-]{36})?$/;

export function hashIn(uri: string): string | undefined {
  return KEPT_URI.exec(uri)?.[1];
}

export class KeptContents implements ContentReader {
  readonly scheme = KEPT_SCHEME;
  readonly #store: ContentStore;

  constructor(folder: string) {
    this.#store = new ContentStore(folder);
  }

  /** Safe from being swept for a while: until the session that names it is stored. */
  async keep(bytes: Uint8Array, contentType: string): Promise<ContentRef> {
    const hash = createHash('sha256').update(bytes).digest('hex');
    await oneAtATime(this.#store.fileOf(hash), async () => {
      const isThere = await this.#store.has(hash);
      if (isThere) await utimes(this.#store.fileOf(hash), new Date(), new Date());
      else await this.#store.put(bytes);
    });
    return { uri: `${KEPT_SCHEME}/${hash}`, sizeHint: bytes.length, contentType };
  }

  async read(uri: string): Promise<StoredContent | undefined> {
    const hash = hashIn(uri);
    const bytes = hash === undefined ? undefined : await this.#store.read(hash);
    return bytes && { bytes, contentType: typeOfBytes(bytes) };
  }

  /** The hashes of what was last kept before a moment, and what was begun before it and never finished. */
  async olderThan(time: number): Promise<string[]> {
    const folders = await readdir(this.#store.folder).catch(() => []);
    const hashes: string[] = [];
    for (const folder of folders) {
      for (const name of await readdir(path.join(this.#store.folder, folder)).catch(() => [])) {
        if (await this.#isOlder(folder + name, time)) hashes.push(folder + name);
      }
    }
    return hashes.filter((hash) => STORED.test(hash));
  }

  /** Says whether it was removed. It stays when it has been kept again meanwhile. */
  remove(hash: string, time: number): Promise<boolean> {
    return oneAtATime(this.#store.fileOf(hash), async () => {
      if (!(await this.#isOlder(hash, time))) return false;
      await unlink(this.#store.fileOf(hash));
      return true;
    });
  }

  #isOlder(hash: string, time: number): Promise<boolean> {
    return stat(this.#store.fileOf(hash)).then(
      ({ mtimeMs }) => mtimeMs < time,
      () => false,
    );
  }
}
