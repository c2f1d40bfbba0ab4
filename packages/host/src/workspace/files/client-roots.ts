/**
 * Which folders each client may touch on this machine: the folders of sessions, folders to browse, and grants by
 * people.
 */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Access as ConnectionAccess } from '@atrium/core/contracts/access.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { makeFolder } from '@atrium/core/util/folders.js';
import { foldedName, isInGit, isInside } from '@atrium/core/util/paths.js';
import { holdsForeign, isSavedForUser, isSavedInProject } from '../../plugins/formats/directories.js';
import { type Access, type Root, type RootKind, RootTable } from './roots.js';

const NONE: readonly Root[] = [];

/** How long the real paths of roots are cached. */
const ROOTS_FRESH_MS = 1_000;

/** Grants of one client. One more ends the oldest. */
const GRANTS_MAX = 64;

interface ClientRootsOptions {
  readonly clock: Clock;
  readonly grants: Grants;
  /** The folders of all listed sessions. Returns the same object as long as the folders are the same. */
  workingFolders(): ReadonlySet<string>;
  /** Directories of customizations that agents declare. */
  declared(): readonly DeclaredDirectory[];
  /** Folders below which clients may look for a place to work. */
  readonly browsed: readonly string[];
  /** Where the user keeps customizations for all projects. */
  readonly userFolder: string | undefined;
  /** Real paths of the folders that a client is limited to; undefined for a client without limits. */
  foldersFor?(clientId: string, access?: ConnectionAccess): readonly string[] | undefined;
}

export interface DeclaredDirectory {
  readonly folder: string;
  readonly writable: boolean;
}

export class ClientRoots {
  readonly #options: ClientRootsOptions;
  #shared: Shared | undefined;

  constructor(options: ClientRootsOptions) {
    this.#options = options;
  }

  /** Pass `access` for a client that may have disconnected. */
  async tableFor(clientId: string, access?: ConnectionAccess): Promise<RootTable> {
    const { roots, closed, table } = await this.#current();
    const own = this.#options.grants.rootsOf(clientId);
    const folders = this.#options.foldersFor?.(clientId, access);
    if (folders)
      return new RootTable(
        [...roots, ...own].filter(({ real }) => isInAny(folders, real)),
        closed,
      );
    return own.length === 0 ? table : new RootTable([...roots, ...own], closed);
  }

  /** Creates the user's own folder when something is first saved there. */
  async prepare(file: string, wanted: Access): Promise<void> {
    const { userFolder: folder } = this.#options;
    if (folder === undefined || wanted !== 'write') return;
    const entrance = (await this.#current()).table.enter(file, wanted);
    if (entrance?.root.granted === folder) await makeFolder(folder);
  }

  /** Looks up the real paths of roots from time to time, not with every request. */
  async #current(): Promise<Shared> {
    const folders = this.#options.workingFolders();
    const directories = this.#options.declared();
    const declared = directories.map(({ folder, writable }) => `${writable} ${folder}`).join('\n');
    const now = this.#options.clock.now();
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
    const { browsed, userFolder: own } = this.#options;
    const writable = directories.filter((directory) => directory.writable);
    return Promise.all([
      ...[...folders].map((folder) => rootAt(folder, workingFolder)),
      ...writable.map(({ folder }) => rootAt(folder, declaredDirectory)),
      ...browsed.map((folder) => rootAt(folder, browsedFolder)),
      ...(own === undefined ? [] : [rootAt(own, userFolder)]),
    ]);
  }
}

/**
 * Access that people granted to single clients. It is kept in memory only, and ends when the session in which it was
 * granted is disposed, or when the device of the client is removed.
 */
export interface Grant {
  /** The path as the client requested it. */
  readonly requested: string;
  /** The real path when the person said yes. If a link leads elsewhere later, the grant does not cover that. */
  readonly real: string;
  readonly access: Access;
  /** The session in which a person said yes. */
  readonly session: string;
  /** The device that the client used; another may have its client id later. */
  readonly credential?: string | undefined;
}

export class Grants {
  readonly #grants = new Map<string, readonly Grant[]>();

  /** `exists`: whether a session still exists. */
  constructor(private readonly isThere: (session: string) => boolean) {}

  add(clientId: string, grant: Grant): void {
    this.#grants.set(clientId, [...(this.#grants.get(clientId) ?? []), grant].slice(-GRANTS_MAX));
  }

  /** A device was removed; ends the grants of its clients. */
  endOfCredential(credential: string): void {
    for (const [clientId, grants] of this.#grants) {
      const left = grants.filter((grant) => grant.credential !== credential);
      if (left.length === 0) this.#grants.delete(clientId);
      else this.#grants.set(clientId, left);
    }
  }

  /** The client id will belong to its next user; ends its grants. */
  endOfClient(clientId: string): void {
    this.#grants.delete(clientId);
  }

  rootsOf(clientId: string): readonly Root[] {
    const grants = this.#grants.get(clientId);
    if (!grants) return NONE;
    const left = grants.filter(({ session }) => this.isThere(session));
    if (left.length === 0) this.#grants.delete(clientId);
    else this.#grants.set(clientId, left);
    return left.map(({ requested, real, access }) => ({
      granted: requested,
      real,
      kind: grantedPlace(access),
      isFixed: true,
    }));
  }
}

/** A session's folder: all of it, except files that Git or the host would run, and customizations of other tools. */
const workingFolder: RootKind = {
  rule: (names) => (isInGit(names) || isSavedInProject(names) === false ? 'read' : 'write'),
  directory: (names) => (isSavedInProject(names) ? names.map(foldedName).indexOf('.agents') + 2 : undefined),
  holdsClosed: holdsForeign,
};

/**
 * A folder in which people look for a place to work. Clients see names only, and none that begins with a dot, because
 * secrets are stored there.
 */
const browsedFolder: RootKind = {
  rule: (names) => (names.some((name) => name.startsWith('.')) ? undefined : 'list'),
};

/** The user's own customizations: only those that clients may save. */
const userFolder: RootKind = {
  rule: (names) => {
    if (isSavedForUser(names)) return 'write';
    return isSavedForUser([...names, 'any']) ? 'read' : undefined;
  },
  directory: (names) => (isSavedForUser(names) ? 1 : undefined),
};

/** A directory of customizations that an agent declares as its own and as writable. */
const declaredDirectory: RootKind = { rule: () => 'write', directory: () => 0 };

/** A place that a person granted access to. */
function grantedPlace(access: Access): RootKind {
  return { rule: (names) => (isInGit(names) && access === 'write' ? 'read' : access) };
}

/**
 * Where a path really leads, even if its end does not exist yet. Only for paths that people granted, not for paths from
 * clients.
 */
export async function realPathOf(file: string): Promise<string> {
  const missing: string[] = [];
  for (let current = file; ; current = path.dirname(current)) {
    const real = await realpath(current).catch(() => undefined);
    if (real !== undefined) return path.join(real, ...missing);
    if (current === path.dirname(current)) return file;
    missing.unshift(path.basename(current));
  }
}

function isInAny(folders: readonly string[], real: string): boolean {
  return folders.some((folder) => isInside(folder, real));
}

interface Shared {
  readonly folders: ReadonlySet<string>;
  readonly declared: string;
  readonly until: number;
  readonly roots: readonly Root[];
  readonly closed: ReadonlySet<string>;
  readonly table: RootTable;
}

async function rootAt(given: string, kind: RootKind): Promise<Root> {
  return { granted: given, real: await realPathOf(given), kind };
}

async function realSet(directories: readonly DeclaredDirectory[]): Promise<ReadonlySet<string>> {
  return new Set(await Promise.all(directories.map(({ folder }) => realPathOf(folder))));
}
