/**
 * Trust before code: what a folder declares (providers, servers, hooks) may start processes only after a person trusted
 * that folder. Who is trusted is a list of real paths in one file, read anew each time: another process may have added
 * to it.
 */
import { unwatchFile, watchFile } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { writePrivateFile } from '../security/private-files.js';
import { isRecord } from '../tools/shape.js';

/** Nobody trusts more folders by hand; a larger file is not ours. */
export const TRUSTED_FOLDERS_MAX = 10_000;
/** How often the file is looked at while somebody waits for a folder. */
export const LOOK_EVERY_MS = 500;

export interface FolderTrust {
  /** Never fails: what cannot be found out is not trusted. */
  isTrusted(folder: string): Promise<boolean>;
  /** Remembers the folder by its real path. */
  trust(folder: string): Promise<void>;
  /** Calls back whenever a folder may have become trusted; the returned function ends that. */
  watch?(changed: () => void): () => void;
}

/** Trusts what is in the file, and what was named when the host was started. */
export class TrustedFolders implements FolderTrust {
  readonly #file: string;
  readonly #named: readonly string[];
  readonly #watchers = new Set<() => void>();
  /** Changes of the file come one after the other, so that none is lost. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor(file: string, named: readonly string[] = []) {
    this.#file = file;
    this.#named = named;
  }

  async isTrusted(folder: string): Promise<boolean> {
    const real = await realPathOf(folder);
    if (real === undefined) return false;
    const named = await Promise.all(this.#named.map(realPathOf));
    return named.includes(real) || (await this.list().catch(nobody)).includes(real);
  }

  async trust(folder: string): Promise<void> {
    const real = await realpath(folder);
    await this.#change((folders) => (folders.includes(real) ? undefined : [...folders, real]));
    for (const changed of [...this.#watchers]) changed();
  }

  /** At once for what this process does, and soon for what another one does. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    watchFile(this.#file, { persistent: false, interval: LOOK_EVERY_MS }, changed);
    return () => {
      this.#watchers.delete(changed);
      unwatchFile(this.#file, changed);
    };
  }

  /** Says whether it was trusted. */
  async distrust(folder: string): Promise<boolean> {
    const real = (await realPathOf(folder)) ?? folder;
    return this.#change((folders) => (folders.includes(real) ? folders.filter((other) => other !== real) : undefined));
  }

  async list(): Promise<readonly string[]> {
    const text = await readFile(this.#file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}';
      throw error;
    });
    const { folders } = parsed(text);
    return Array.isArray(folders) ? folders.filter((folder) => typeof folder === 'string') : [];
  }

  /** Says whether anything changed. */
  #change(change: (folders: readonly string[]) => readonly string[] | undefined): Promise<boolean> {
    const changed = this.#changing.then(async () => {
      const folders = change(await this.list())?.slice(-TRUSTED_FOLDERS_MAX);
      if (!folders) return false;
      await writePrivateFile(this.#file, `${JSON.stringify({ folders }, null, 2)}\n`);
      return true;
    });
    this.#changing = changed.catch(() => {});
    return changed;
  }
}

/** What cannot be read trusts nobody. */
function nobody(): readonly string[] {
  return [];
}

/** A damaged list trusts nobody. */
function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

async function realPathOf(folder: string): Promise<string | undefined> {
  return realpath(folder).catch(() => undefined);
}

/** For hosts without a place to remember anything: nobody is trusted. */
export const NO_TRUST: FolderTrust = {
  isTrusted: async () => false,
  trust: async () => {},
};
