/**
 * Follows a path name by name, links included, and looks at nothing that is outside of the roots, not even to see whether
 * it exists. The result is true for a moment only: who acts on it holds the folder first (see `places.ts`).
 */
import type { BigIntStats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, MovedError } from './errors.js';
import { LINKS_MAX, PATH_MAX_NAMES } from './limits.js';
import { type Access, type RootTable, suffices } from './roots.js';

export interface Found {
  /** The path without links. */
  readonly real: string;
  /** The innermost folder that is there: the one that it lies in, unless more is missing. */
  readonly folder: string;
  /** From that folder on; one name, unless more is missing. */
  readonly names: readonly string[];
  /** Undefined when it is not there. */
  readonly stats: BigIntStats | undefined;
  /** It is not there, and a link says that it should be. */
  readonly isDeadLink: boolean;
  readonly access: Access;
}

export type Problem = 'outside' | 'missing' | 'loop';
export type Walked = Found | { readonly problem: Problem };

export interface Way {
  readonly wanted: Access;
  /** Whether a link at the very end is followed, too. */
  readonly followLast: boolean;
}

export function walk(table: RootTable, file: string, way: Way): Promise<Walked> {
  return new Walk(table, way).run(file);
}

class Walk {
  #here = '';
  /** Of what is here; once something is missing, there are none. */
  #stats: BigIntStats | undefined;
  #rest: string[] = [];
  #links = 0;
  /** What the path itself names is a link, and was followed. */
  #isBeyondLink = false;

  constructor(
    private readonly table: RootTable,
    private readonly way: Way,
  ) {}

  async run(file: string): Promise<Walked> {
    let problem = await this.#enter(file);
    while (!problem && this.#stats && this.#rest.length > 0) problem = await this.#step(this.#rest.shift() ?? '');
    return problem ? { problem } : this.#found();
  }

  async #enter(file: string, behind: readonly string[] = []): Promise<Problem | undefined> {
    const entrance = this.table.enter(file, this.way.wanted);
    if (!entrance) return 'outside';
    this.#here = entrance.root.real;
    this.#rest = [...entrance.names, ...behind];
    this.#stats = await look(this.#here);
    // A root was resolved when it was granted. A link there now is not what was granted.
    return this.#stats?.isSymbolicLink() ? 'outside' : undefined;
  }

  async #step(name: string): Promise<Problem | undefined> {
    if (!this.#stats?.isDirectory()) return 'missing';
    if (name === '..') return this.#up();
    const next = path.join(this.#here, name);
    if (!this.#leadsInside(next)) return 'outside';
    const found = await look(next);
    const isLast = this.#rest.length === 0;
    if (found?.isSymbolicLink() && (!isLast || this.way.followLast)) return this.#follow(next, isLast);
    this.#here = next;
    this.#stats = found;
    return undefined;
  }

  /** Above the roots nothing is looked at. That it is a folder is known, for we come from inside of it. */
  async #up(): Promise<undefined> {
    this.#here = path.dirname(this.#here);
    if (this.table.accessTo(this.#here)) this.#stats = await look(this.#here);
  }

  async #follow(link: string, isLast: boolean): Promise<Problem | undefined> {
    this.#links += 1;
    if (this.#links > LINKS_MAX) return 'loop';
    this.#isBeyondLink ||= isLast;
    const target = await readlink(link).catch(exchanged);
    const names = target.split(path.sep).filter((name) => name !== '' && name !== '.');
    if (names.length + this.#rest.length > PATH_MAX_NAMES) return 'loop';
    if (!path.isAbsolute(target)) {
      this.#rest = [...names, ...this.#rest];
      return undefined;
    }
    // Way back is gone step by step, so that it is noticed when it begins outside.
    const back = names.includes('..') ? names.indexOf('..') : names.length;
    const first = path.join(path.parse(target).root, ...names.slice(0, back));
    return this.#enter(first, [...names.slice(back), ...this.#rest]);
  }

  /** Whether the way goes on to something that may be had, or back from something that may at least be seen. */
  #leadsInside(next: string): boolean {
    const back = this.#rest.indexOf('..');
    const end = path.join(next, ...this.#rest.slice(0, back < 0 ? undefined : back));
    return suffices(this.table.accessTo(end), back < 0 ? this.way.wanted : 'list');
  }

  #found(): Walked {
    const real = path.join(this.#here, ...this.#rest);
    const access = this.table.accessTo(real);
    if (!access || !suffices(access, this.way.wanted)) return { problem: 'outside' };
    // Back from what is not there leads nowhere.
    if (this.#rest.includes('..')) return { problem: 'missing' };
    return {
      real,
      folder: path.dirname(this.#here),
      names: [path.basename(this.#here), ...this.#rest],
      stats: this.#stats,
      isDeadLink: this.#isBeyondLink && this.#stats === undefined,
      access,
    };
  }
}

/** It was a link a moment ago. */
function exchanged(error: unknown): never {
  throw codeOf(error) === 'EINVAL' || codeOf(error) === 'ENOENT' ? new MovedError(String(error)) : error;
}

async function look(file: string): Promise<BigIntStats | undefined> {
  return lstat(file, { bigint: true }).catch((error) => {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  });
}
