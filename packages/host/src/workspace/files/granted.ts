/** All that each client may touch on this machine, put together: sessions' folders, folders to browse, what was granted. */

import type { Clock } from '../../core/util/clock.js';
import { makeFolder } from '../../core/util/folders.js';
import type { Grants } from './grants.js';
import { ROOTS_FRESH_MS } from './limits.js';
import { realPathOf } from './real-path.js';
import { browsedFolder, declaredDirectory, userFolder, workingFolder } from './root-kinds.js';
import { type Access, type Root, type RootKind, RootTable } from './roots.js';

export interface GrantedParts {
  readonly clock: Clock;
  readonly grants: Grants;
  /** The folders of all listed sessions. The same object as long as they are the same. */
  workingFolders(): ReadonlySet<string>;
  /** Directories of customizations that agents declare. */
  declared(): readonly DeclaredDirectory[];
  /** Below these, clients may look for a folder to work in. */
  readonly browsed: readonly string[];
  /** Where the user keeps customizations for all projects. */
  readonly userFolder: string | undefined;
}

export interface DeclaredDirectory {
  readonly folder: string;
  readonly writable: boolean;
}

interface Shared {
  readonly folders: ReadonlySet<string>;
  readonly declared: string;
  readonly until: number;
  readonly roots: readonly Root[];
  readonly closed: ReadonlySet<string>;
  readonly table: RootTable;
}

export class Granted {
  readonly #parts: GrantedParts;
  #shared: Shared | undefined;

  constructor(parts: GrantedParts) {
    this.#parts = parts;
  }

  async tableFor(clientId: string): Promise<RootTable> {
    const { roots, closed, table } = await this.#current();
    const own = this.#parts.grants.rootsOf(clientId);
    return own.length === 0 ? table : new RootTable([...roots, ...own], closed);
  }

  /** The user's own folder is made when something is first saved there. */
  async prepare(file: string, wanted: Access): Promise<void> {
    const { userFolder: folder } = this.#parts;
    if (folder === undefined || wanted !== 'write') return;
    const entrance = (await this.#current()).table.enter(file, wanted);
    if (entrance?.root.given === folder) await makeFolder(folder);
  }

  /** Where roots really are is looked up now and then, not with every request. */
  async #current(): Promise<Shared> {
    const folders = this.#parts.workingFolders();
    const directories = this.#parts.declared();
    const declared = directories.map(({ folder, writable }) => `${writable} ${folder}`).join('\n');
    const now = this.#parts.clock.now();
    const shared = this.#shared;
    const isFresh = shared !== undefined && now < shared.until && shared.until <= now + ROOTS_FRESH_MS;
    if (isFresh && shared.folders === folders && shared.declared === declared) return shared;
    const roots = await this.#roots(folders, directories);
    const closed = await realSet(directories.filter(({ writable }) => !writable));
    const table = new RootTable(roots, closed);
    this.#shared = { folders, declared, until: now + ROOTS_FRESH_MS, roots, closed, table };
    return this.#shared;
  }

  #roots(folders: ReadonlySet<string>, directories: readonly DeclaredDirectory[]): Promise<readonly Root[]> {
    const { browsed, userFolder: own } = this.#parts;
    const writable = directories.filter((directory) => directory.writable);
    return Promise.all([
      ...[...folders].map((folder) => rootAt(folder, workingFolder)),
      ...writable.map(({ folder }) => rootAt(folder, declaredDirectory)),
      ...browsed.map((folder) => rootAt(folder, browsedFolder)),
      ...(own === undefined ? [] : [rootAt(own, userFolder)]),
    ]);
  }
}

async function rootAt(given: string, kind: RootKind): Promise<Root> {
  return { given, real: await realPathOf(given), kind };
}

async function realSet(directories: readonly DeclaredDirectory[]): Promise<ReadonlySet<string>> {
  return new Set(await Promise.all(directories.map(({ folder }) => realPathOf(folder))));
}
