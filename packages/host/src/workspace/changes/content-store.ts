/** Contents by their hash, each a file of its own: what is there once is never written again, and never changes. */
import { createHash, randomUUID } from 'node:crypto';
import { access, copyFile, link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../../core/util/folders.js';

const OWNER_ONLY = { file: 0o600, folder: 0o700 } as const;
const HASH = /^[0-9a-f]{64}$/;

export class ContentStore {
  /** The folders inside that are there: at most 256. */
  readonly #made = new Set<string>();

  constructor(readonly folder: string) {}

  /** What is put here stays. */
  get generation(): number {
    return 0;
  }

  /** Where the content is, or would be. */
  fileOf(hash: string): string {
    return path.join(this.folder, hash.slice(0, 2), hash.slice(2));
  }

  async put(bytes: Uint8Array): Promise<string> {
    const hash = createHash('sha256').update(bytes).digest('hex');
    if (await this.has(hash)) return hash;
    await this.#place(hash, (draft) => writeFile(draft, bytes, { mode: OWNER_ONLY.file, flag: 'wx' }));
    return hash;
  }

  /** Takes a content over from another store, without reading it where the file system can. */
  async take(other: ContentStore, hash: string): Promise<void> {
    if (await this.has(hash)) return;
    const from = other.fileOf(hash);
    await this.#place(hash, (draft) => link(from, draft).catch(() => copyFile(from, draft)));
  }

  async read(hash: string): Promise<Buffer | undefined> {
    if (!HASH.test(hash)) return undefined;
    return readFile(this.fileOf(hash)).catch(() => undefined);
  }

  async has(hash: string): Promise<boolean> {
    return access(this.fileOf(hash)).then(
      () => true,
      () => false,
    );
  }

  /** Written beside its place and renamed: half a content is never found. */
  async #place(hash: string, write: (draft: string) => Promise<void>): Promise<void> {
    const file = this.fileOf(hash);
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

  protected forgetFolders(): void {
    this.#made.clear();
  }

  async #makeFolder(folder: string): Promise<void> {
    if (this.#made.has(folder)) return;
    await makeFolder(folder, { mode: OWNER_ONLY.folder });
    this.#made.add(folder);
  }
}
