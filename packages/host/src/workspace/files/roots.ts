/**
 * The folders that a client may touch: roots, each with a rule for the paths below it. Everything here compares text
 * only; `file-access.ts` finds out whether links lead out of a root.
 */
import path from 'node:path';
import { isInside } from '@atrium/core/util/paths.js';

/** `list`: names of folders and files. `read`: also contents. `write`: everything. */
export type Access = 'list' | 'read' | 'write';

const ORDER: Readonly<Record<Access, number>> = { list: 1, read: 2, write: 3 };

export function suffices(given: Access | undefined, wanted: Access): boolean {
  return given !== undefined && ORDER[given] >= ORDER[wanted];
}

/** The access to the path with these names below a root; with no names, to the root itself. */
export type Rule = (names: readonly string[]) => Access | undefined;

/** What a kind of root allows. */
export interface RootKind {
  readonly rule: Rule;
  /**
   * How many of these names lead to the directory of customizations that contains the path; undefined when none does.
   */
  directory?(names: readonly string[]): number | undefined;
  /** Whether a folder that may be changed contains something that may not, so that it must not be moved or deleted. */
  holdsClosed?(names: readonly string[]): boolean;
}

export interface Root {
  /** The path as it was granted. */
  readonly granted: string;
  /** The real path. */
  readonly real: string;
  readonly kind: RootKind;
  /** A person granted this exact place. Otherwise the real path may change with the links that lead there. */
  readonly isFixed?: boolean;
}

export interface Entrance {
  readonly root: Root;
  readonly names: readonly string[];
}

export class RootTable {
  readonly #entrances: ReadonlyMap<string, readonly Root[]>;
  readonly #real = new Map<string, Root[]>();
  readonly #closed: ReadonlySet<string>;

  /** `closed`: real paths of folders in which nothing may be changed, whatever the roots say. */
  constructor(roots: readonly Root[], closed: ReadonlySet<string> = new Set()) {
    this.#closed = closed;
    const all = entrancesOf(roots);
    const own = roots.filter((root) => !isCovered(root, all));
    this.#entrances = entrancesOf(own);
    for (const root of own) add(this.#real, root.real, root);
  }

  /** The outermost root that gives this access to a path; undefined when none does. */
  enter(file: string, wanted: Access): Entrance | undefined {
    for (const folder of downTo(file)) {
      const names = namesBelow(folder, file);
      const root = this.#entrances.get(folder)?.find(({ kind }) => suffices(kind.rule(names), wanted));
      if (root) return { root, names };
    }
    return undefined;
  }

  /** The access at a real path: the most that any root allows. */
  accessTo(real: string): Access | undefined {
    let best: Access | undefined;
    let isClosed = false;
    for (const folder of downTo(real)) {
      isClosed ||= this.#closed.has(folder);
      for (const { kind } of this.#real.get(folder) ?? []) {
        const access = kind.rule(namesBelow(folder, real));
        if (access && !suffices(best, access)) best = access;
      }
    }
    return best === 'write' && isClosed ? 'read' : best;
  }

  /** The directory of customizations that contains a real path; undefined when none does. */
  directoryOf(file: string): string | undefined {
    for (const folder of downTo(file)) {
      const names = namesBelow(folder, file);
      for (const { real, kind } of this.#entrances.get(folder) ?? []) {
        const depth = kind.directory?.(names);
        if (depth !== undefined) return path.join(real, ...names.slice(0, depth));
      }
    }
    return undefined;
  }

  /** Whether a real path is a root or contains one; such a folder must stay where it is. */
  holdsRoot(real: string): boolean {
    return [...this.#real.keys()].some((root) => isInside(real, root));
  }

  /** Whether a folder at this real path contains, or would contain, folders in which nothing may be changed. */
  holdsClosed(real: string): boolean {
    if ([...this.#closed].some((closed) => isInside(real, closed))) return true;
    return downTo(real).some((folder) =>
      this.#real.get(folder)?.some(({ kind }) => kind.holdsClosed?.(namesBelow(folder, real))),
    );
  }
}

/**
 * A folder inside another that allows as much is not a root of its own. Otherwise a program that can replace it by a
 * link would make the link's target a root.
 */
function isCovered(root: Root, all: ReadonlyMap<string, readonly Root[]>): boolean {
  const mine = root.kind.rule([]);
  if (mine === undefined || root.isFixed) return false;
  const above = downTo(path.dirname(root.granted)).filter((folder) => folder !== root.granted);
  return above.some((folder) =>
    all
      .get(folder)
      ?.some((other) => other !== root && suffices(other.kind.rule(namesBelow(folder, root.granted)), mine)),
  );
}

function entrancesOf(roots: readonly Root[]): Map<string, Root[]> {
  const entrances = new Map<string, Root[]>();
  for (const root of roots) for (const place of new Set([root.granted, root.real])) add(entrances, place, root);
  return entrances;
}

export function namesBelow(folder: string, file: string): string[] {
  return path
    .relative(folder, file)
    .split(path.sep)
    .filter((name) => name !== '');
}

/** A path and all folders above it, the outermost first. */
function downTo(file: string): string[] {
  const folders = [file];
  for (let above = path.dirname(file); above !== folders.at(-1); above = path.dirname(above)) folders.push(above);
  return folders.reverse();
}

function add(map: Map<string, Root[]>, place: string, root: Root): void {
  map.set(place, [...(map.get(place) ?? []), root]);
}
