/**
 * Trust before code: providers, servers and hooks that a folder declares start only after a person has trusted that
 * folder and seen exactly these programs. One file holds the trusted folders; it is read each time, because another
 * process may have added to it.
 */
import { unwatchFile, watchFile } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { writePrivateFile } from '@atrium/core/util/secrets.js';
import { isRecord } from '@atrium/core/util/shape.js';

/** More than anyone trusts by hand. */
const TRUSTED_FOLDERS_MAX = 10_000;
/** Per folder. The most recently trusted programs count; changed programs leave old digests behind. */
const TRUSTED_PROGRAMS_MAX = 1_000;
/** How often the file is checked while a session waits for trust. */
export const TRUST_POLL_MS = 500;

export interface FolderTrust {
  /**
   * Whether a person trusts the folder, regardless of its programs. Never fails: when in doubt, the folder is not
   * trusted.
   */
  isTrusted(folder: string): Promise<boolean>;
  /** Whether a person allowed the folder to start the program with this digest. Never fails, either. */
  allows(folder: string, program: string): Promise<boolean>;
  /** Stores the folder by its real path, and adds these programs to those that it may start already. */
  trust(folder: string, programs: readonly string[]): Promise<void>;
  /** Calls back whenever a folder or program may have become trusted; the returned function unsubscribes. */
  watch?(changed: () => void): () => void;
}

/** A folder that was named when the host was started, and its declarations at that time. */
export interface NamedFolder {
  readonly folder: string;
  readonly programs: readonly string[];
}

/**
 * Files of earlier versions hold only folders. These are trusted, but no person has seen their programs, so the host
 * asks once more.
 */
interface Trusted {
  readonly folders: readonly string[];
  readonly programs: ReadonlyMap<string, readonly string[]>;
}

/** Trusts the folders in the file, and those that were named when the host was started. */
export class TrustedFolders implements FolderTrust {
  readonly #file: string;
  readonly #named: readonly NamedFolder[];
  readonly #watchers = new Set<() => void>();
  /** Changes of the file run one after another, so that none is lost. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor(file: string, named: readonly NamedFolder[] = []) {
    this.#file = file;
    this.#named = named;
  }

  async isTrusted(folder: string): Promise<boolean> {
    const real = await realPathOf(folder);
    if (real === undefined) return false;
    return (await this.#namedAs(real)) !== undefined || (await this.#read().catch(nothing)).folders.includes(real);
  }

  async allows(folder: string, program: string): Promise<boolean> {
    const real = await realPathOf(folder);
    if (real === undefined) return false;
    if ((await this.#namedAs(real))?.programs.includes(program)) return true;
    const { folders, programs } = await this.#read().catch(nothing);
    return folders.includes(real) && (programs.get(real)?.includes(program) ?? false);
  }

  async trust(folder: string, programs: readonly string[]): Promise<void> {
    const real = await realpath(folder);
    await this.#change((before) => {
      const known = before.programs.get(real) ?? [];
      const fresh = programs.filter((program) => !known.includes(program));
      const isKnown = before.folders.includes(real);
      if (isKnown && fresh.length === 0) return undefined;
      return {
        folders: isKnown ? before.folders : [...before.folders, real],
        programs: new Map(before.programs).set(real, [...known, ...fresh].slice(-TRUSTED_PROGRAMS_MAX)),
      };
    });
    this.#tell();
  }

  /** Calls back at once after a change by this process, and soon after one by another. All watchers share one check. */
  watch(changed: () => void): () => void {
    const watcher = () => changed();
    if (this.#watchers.size === 0) watchFile(this.#file, { persistent: false, interval: TRUST_POLL_MS }, this.#tell);
    this.#watchers.add(watcher);
    return () => {
      if (this.#watchers.delete(watcher) && this.#watchers.size === 0) unwatchFile(this.#file, this.#tell);
    };
  }

  readonly #tell = (): void => {
    for (const changed of [...this.#watchers]) changed();
  };

  /** Returns whether it was trusted. */
  async distrust(folder: string): Promise<boolean> {
    const real = (await realPathOf(folder)) ?? folder;
    return this.#change(({ folders, programs }) => {
      if (!folders.includes(real)) return undefined;
      const others = new Map(programs);
      others.delete(real);
      return { folders: folders.filter((other) => other !== real), programs: others };
    });
  }

  async list(): Promise<readonly string[]> {
    return (await this.#read()).folders;
  }

  async #namedAs(real: string): Promise<NamedFolder | undefined> {
    const named = await Promise.all(
      this.#named.map(async (each) => ((await realPathOf(each.folder)) === real ? [each] : [])),
    );
    return named.flat()[0];
  }

  async #read(): Promise<Trusted> {
    const text = await readFile(this.#file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}';
      throw error;
    });
    const { folders, programs } = parsed(text);
    const entries = isRecord(programs) ? Object.entries(programs) : [];
    return { folders: textsIn(folders), programs: new Map(entries.map(([folder, list]) => [folder, textsIn(list)])) };
  }

  /** Returns whether anything changed. */
  #change(change: (before: Trusted) => Trusted | undefined): Promise<boolean> {
    const changed = this.#changing.then(async () => {
      const after = change(await this.#read());
      if (!after) return false;
      const folders = after.folders.slice(-TRUSTED_FOLDERS_MAX);
      const programs = Object.fromEntries([...after.programs].filter(([folder]) => folders.includes(folder)));
      await writePrivateFile(this.#file, `${JSON.stringify({ folders, programs }, null, 2)}\n`);
      return true;
    });
    this.#changing = changed.catch(() => {});
    return changed;
  }
}

/** An unreadable file trusts no folder. */
function nothing(): Trusted {
  return { folders: [], programs: new Map() };
}

function textsIn(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

/** A damaged file trusts no folder. */
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

/** For hosts without a file of trusted folders: no folder is trusted. */
export const NO_TRUST: FolderTrust = {
  isTrusted: async () => false,
  allows: async () => false,
  trust: async () => {},
};
