/** A blob store on disk: one file for each blob, in one folder for each first byte of the hash. */
import { createHash, randomUUID } from 'node:crypto';
import {
  access,
  copyFile,
  link,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import { makeFolder } from '@atrium/core/util/folders.js';
import { oneAtATime } from '@atrium/core/util/scheduling.js';

const OWNER_ONLY = { file: 0o600, folder: 0o700 } as const;
const HASH = /^[0-9a-f]{64}$/;
/** Also matches unfinished files of a host that was killed. */
const HASH_OR_DRAFT = /^[0-9a-f]{64}(\.[0-9a-f-]{36})?$/;

export class FileBlobStore implements BlobStore {
  /** The folders that exist, at most 256. */
  readonly #made = new Set<string>();

  constructor(readonly folder: string) {}

  async put(bytes: Uint8Array): Promise<string> {
    const hash = createHash('sha256').update(bytes).digest('hex');
    const file = this.#fileOf(hash);
    await oneAtATime(file, async () => {
      if (await this.has(hash)) return void (await isTouched(file));
      await this.#place(hash, (draft) => writeFile(draft, bytes, { mode: OWNER_ONLY.file, flag: 'wx' }));
    });
    return hash;
  }

  async get(hash: string): Promise<Buffer | undefined> {
    return HASH.test(hash) ? readFile(this.#fileOf(hash)).catch(() => undefined) : undefined;
  }

  async has(hash: string): Promise<boolean> {
    return access(this.#fileOf(hash)).then(
      () => true,
      () => false,
    );
  }

  async touch(hash: string): Promise<boolean> {
    if (!HASH.test(hash)) return false;
    const file = this.#fileOf(hash);
    return oneAtATime(file, () => isTouched(file));
  }

  async copyFrom(other: BlobStore, hash: string): Promise<void> {
    if (await this.has(hash)) return;
    if (other instanceof FileBlobStore) {
      const from = other.#fileOf(hash);
      return this.#place(hash, (draft) => link(from, draft).catch(() => copyFile(from, draft)));
    }
    const bytes = await other.get(hash);
    if (!bytes) throw new Error(`there is no blob ${hash} to copy`);
    await this.put(bytes);
  }

  async olderThan(time: number): Promise<string[]> {
    const hashes: string[] = [];
    for (const folder of await readdir(this.folder).catch(() => [])) {
      for (const name of await readdir(path.join(this.folder, folder)).catch(() => [])) {
        if (HASH_OR_DRAFT.test(folder + name) && (await this.#isOlder(folder + name, time))) hashes.push(folder + name);
      }
    }
    return hashes;
  }

  delete(hash: string, time: number): Promise<boolean> {
    return oneAtATime(this.#fileOf(hash), async () => {
      if (!(await this.#isOlder(hash, time))) return false;
      await unlink(this.#fileOf(hash));
      return true;
    });
  }

  protected async clear(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true }).catch(() => {});
    this.#made.clear();
  }

  #fileOf(hash: string): string {
    return path.join(this.folder, hash.slice(0, 2), hash.slice(2));
  }

  #isOlder(hash: string, time: number): Promise<boolean> {
    return stat(this.#fileOf(hash)).then(
      ({ mtimeMs }) => mtimeMs < time,
      () => false,
    );
  }

  /** Writes a file beside the place and renames it, so that no reader ever finds half a blob. */
  async #place(hash: string, write: (draft: string) => Promise<void>): Promise<void> {
    const file = this.#fileOf(hash);
    await this.#makeFolder(path.dirname(file));
    const draft = `${file}.${randomUUID()}`;
    try {
      await write(draft);
      await rename(draft, file);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  async #makeFolder(folder: string): Promise<void> {
    if (this.#made.has(folder)) return;
    await makeFolder(folder, { mode: OWNER_ONLY.folder });
    this.#made.add(folder);
  }
}

/** False when the file does not exist. */
function isTouched(file: string): Promise<boolean> {
  return utimes(file, new Date(), new Date()).then(
    () => true,
    () => false,
  );
}
