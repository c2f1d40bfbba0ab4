/** Reads the component files of one container: what cannot be read becomes a warning and counts as absent. */
import { baseName, type FileEntry, FileProblem, type PluginFiles, parentOf } from './files.js';
import { CONTAINER_MAX_BYTES, FILE_MAX_BYTES } from './limits.js';
import type { Warnings } from './warnings.js';

const BOM = '\uFEFF';

export class Reader {
  readonly #files: PluginFiles;
  readonly #warnings: Warnings;
  #bytesLeft = CONTAINER_MAX_BYTES;

  constructor(files: PluginFiles, warnings: Warnings) {
    this.#files = files;
    this.#warnings = warnings;
  }

  uri(path: string): string {
    return this.#files.uri(path);
  }

  /** Hidden entries do not count anywhere. */
  async list(path: string): Promise<readonly FileEntry[] | undefined> {
    const entries = await this.#tried(path, () => this.#files.list(path));
    return entries?.filter(({ name }) => !name.startsWith('.'));
  }

  /** Without the mark that some programs put before UTF-8. */
  async read(path: string): Promise<string | undefined> {
    if (this.#bytesLeft <= 0) {
      this.#warnings.add(
        'limit-exceeded',
        `There is more than ${CONTAINER_MAX_BYTES} bytes of text; the rest is left out.`,
      );
      return undefined;
    }
    const text = await this.#tried(path, () => this.#files.read(path, FILE_MAX_BYTES));
    if (text === undefined) return undefined;
    this.#bytesLeft -= Buffer.byteLength(text);
    return text.startsWith(BOM) ? text.slice(BOM.length) : text;
  }

  /** What is at a path. `refused` has been warned about already. */
  async kindOf(path: string): Promise<FileEntry['kind'] | 'missing' | 'refused'> {
    try {
      if (await this.#files.list(path)) return 'folder';
      const siblings = await this.#files.list(parentOf(path));
      return siblings?.find(({ name }) => name === baseName(path))?.kind ?? 'missing';
    } catch (error) {
      this.#warn(path, error);
      return 'refused';
    }
  }

  async #tried<Value>(path: string, work: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await work();
    } catch (error) {
      return this.#warn(path, error);
    }
  }

  #warn(path: string, error: unknown): undefined {
    if (!(error instanceof FileProblem)) throw error;
    this.#warnings.add(error.kind, error.message, path);
  }
}
