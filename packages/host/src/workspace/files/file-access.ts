/**
 * The only way from the `file:` URI of a request to a file: checks the URI, walks its path name by name so that no link
 * leads out of the client's roots, and holds the parent folder open while the request acts on the file.
 */
import type { BigIntStats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { checkAllowedPath } from '@atrium/core/util/paths.js';
import type { ClientRoots } from './client-roots.js';
import { asAnswer, codeOf, denied, MovedError, notFound, refused } from './file-errors.js';
import { type PinnedFolder, pinFolder } from './pinned-folder.js';
import { type Access, type RootTable, suffices } from './roots.js';

const URI_MAX_CHARACTERS = 16 * 2 ** 10;
/** Names in one path, including those from links: the cost of a path grows faster than its length. */
export const PATH_MAX_NAMES = 256;
/** Links that lead from one to the next; the kernel's own limit. */
export const LINKS_MAX = 40;
/** How often the path to a file may change during one request before the host gives up. */
const SWAPS_MAX = 8;
const PATH_MAX_BYTES = 4_096;
const NAME_MAX_BYTES = 255;
/** Names that Windows interprets as something else: devices, short names, parts of a file, names with dropped ends. */
const WINDOWS_RESERVED_NAMES = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|~\d|[:*?"<>|]|[. ]$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for them
const CONTROL = /[\x00-\x1f\x7f]/;

type FilePath = { readonly path: string } | { readonly problem: string };

export function filePathOf(uri: string): FilePath {
  if (uri.length > URI_MAX_CHARACTERS) return { problem: 'the URI is too long' };
  if (!/^file:\//i.test(uri)) return { problem: 'only files of this host, as file: URIs, can be had here' };
  if (/[?#\\]/.test(uri) || CONTROL.test(uri)) {
    return { problem: 'a file: URI has no query, fragment, backslash or control character' };
  }
  const decoded = decode(uri);
  return decoded === undefined ? { problem: 'this is not a path on this machine' } : checked(decoded);
}

/** The parser resolves dots, including encoded ones; it fails for encoded slashes and other hosts. */
function decode(uri: string): string | undefined {
  try {
    const url = new URL(uri);
    return url.host === '' ? fileURLToPath(url) : undefined;
  } catch {
    return undefined;
  }
}

function checked(decoded: string): FilePath {
  if (decoded.includes('\0')) return { problem: 'a path cannot contain a zero byte' };
  const file = path.resolve(decoded);
  const names = file.split(path.sep);
  const isLong = Buffer.byteLength(file) > PATH_MAX_BYTES || names.length > PATH_MAX_NAMES;
  if (isLong || names.some((name) => Buffer.byteLength(name) > NAME_MAX_BYTES)) {
    return { problem: 'the path, or a name in it, is too long' };
  }
  const isTrap = process.platform === 'win32' && names.slice(1).some((name) => WINDOWS_RESERVED_NAMES.test(name));
  return isTrap ? { problem: 'the path has a name that Windows reads as something else' } : { path: file };
}

interface Asked {
  readonly uri: string;
  readonly clientId: string;
  readonly access: Access;
  /** Whether a link at the very end stands for its target rather than itself. */
  readonly followLast?: boolean;
}

/** A file or folder that exists or will be created, with its parent folder held open. */
export interface PinnedEntry extends Found {
  readonly uri: string;
  /** The requested path. */
  readonly asked: string;
  readonly held: PinnedFolder;
  /** Its name in the held folder; if several names are missing, the first of them. */
  readonly name: string;
  /**
   * Fails when the entry must not be moved or deleted: sessions work in it, or it contains something that clients may
   * not change.
   */
  assertRemovable(): void;
  /** The directory of customizations that contains it. */
  readonly directory: string | undefined;
}

export class FileAccess {
  constructor(private readonly roots: ClientRoots) {}

  /** Acts on the entry. Tries again if something on the path is replaced at the same moment. */
  async at<T>(asked: Asked, act: (entry: PinnedEntry) => Promise<T>): Promise<T> {
    const { uri } = asked;
    const file = filePathOf(uri);
    if ('problem' in file) throw refused(`${uri}: ${file.problem}`);
    try {
      await this.roots.prepare(file.path, asked.access);
      for (let attempt = 1; ; attempt++) {
        const outcome = await this.#attempt(asked, file.path, act);
        if ('done' in outcome) return outcome.done;
        if (attempt === SWAPS_MAX) throw outcome.moved;
      }
    } catch (error) {
      throw error instanceof RequestError ? error : asAnswer(error, uri);
    }
  }

  async #attempt<T>(
    asked: Asked,
    file: string,
    act: (entry: PinnedEntry) => Promise<T>,
  ): Promise<{ done: T } | { moved: unknown }> {
    const table = await this.roots.tableFor(asked.clientId);
    try {
      const found = await find(table, asked, file);
      const facts = factsOf(table, found, file);
      // From here on the folder is held open, and must be closed even if something fails.
      const held = await pinFolder(found.folder);
      return { done: await act({ ...found, ...facts, uri: asked.uri, asked: file, held }).finally(() => held.close()) };
    } catch (error) {
      // A link has appeared where none was.
      if (error instanceof MovedError || codeOf(error) === 'ELOOP') return { moved: error };
      throw error;
    }
  }

  /** Whether a path leads to a folder, as far as the client may know. */
  async isFolder(clientId: string, file: string): Promise<boolean> {
    const found = await walk(await this.roots.tableFor(clientId), file, { access: 'list', followLast: true });
    return 'stats' in found && found.stats?.isDirectory() === true;
  }
}

function factsOf(table: RootTable, { real, names }: Found, file: string) {
  const directory = table.directoryOf(file);
  // In such a directory, links are followed only if they stay inside it.
  if (directory !== undefined && table.directoryOf(real) !== directory)
    throw refused('a link leads out of the directory');
  return { name: names[0] ?? '', assertRemovable: () => assertRemovable(table, real), directory };
}

function assertRemovable(table: RootTable, real: string): void {
  if (table.holdsRoot(real)) throw refused(`${real} holds a folder that sessions work in, and stays as it is`);
  if (table.holdsClosed(real)) throw refused(`${real} is where other tools keep what clients do not change, and stays`);
}

async function find(table: RootTable, { uri, access: wanted, followLast = true }: Asked, file: string): Promise<Found> {
  const found = await walk(table, file, { access: wanted, followLast });
  if (!('problem' in found)) {
    await checkAllowedPath(found.real, uri);
    return found;
  }
  if (found.problem === 'outside') throw denied(uri, wanted);
  throw notFound(uri, found.problem === 'loop' ? 'is a link that leads back to itself, or too far' : undefined);
}

/** The result of walking a path. It is true only for a moment: callers hold the folder open before they act on it. */
interface Found {
  /** The path without links. */
  readonly real: string;
  /** The innermost existing folder: the entry's parent, unless more is missing. */
  readonly folder: string;
  /** The names from that folder on: one, unless more is missing. */
  readonly names: readonly string[];
  /** Undefined when it does not exist. */
  readonly stats: BigIntStats | undefined;
  /** The entry does not exist, but a link points to it. */
  readonly isDeadLink: boolean;
  readonly access: Access;
}

type Problem = 'outside' | 'missing' | 'loop';

type Walked = Found | { readonly problem: Problem };

interface Way {
  readonly access: Access;
  /** Whether a link at the very end is followed, too. */
  readonly followLast: boolean;
}

function walk(table: RootTable, file: string, way: Way): Promise<Walked> {
  return new Walk(table, way).run(file);
}

/**
 * Walks a path name by name, following links. Never looks outside of the roots, not even to see whether something
 * exists.
 */
class Walk {
  #here = '';
  /** Of the present place; undefined once something is missing. */
  #stats: BigIntStats | undefined;
  #rest: string[] = [];
  #links = 0;
  /** The path itself names a link, which was followed. */
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
    const entrance = this.table.enter(file, this.way.access);
    if (!entrance) return 'outside';
    this.#here = entrance.root.real;
    this.#rest = [...entrance.names, ...behind];
    this.#stats = await lstatIfExists(this.#here);
    // A root was resolved when it was granted. A link that is there now was not granted.
    return this.#stats?.isSymbolicLink() ? 'outside' : undefined;
  }

  async #step(name: string): Promise<Problem | undefined> {
    if (!this.#stats?.isDirectory()) return 'missing';
    if (name === '..') return this.#up();
    const next = path.join(this.#here, name);
    if (!this.#leadsInside(next)) return 'outside';
    const found = await lstatIfExists(next);
    const isLast = this.#rest.length === 0;
    if (found?.isSymbolicLink() && (!isLast || this.way.followLast)) return this.#follow(next, isLast);
    this.#here = next;
    this.#stats = found;
    return undefined;
  }

  /** Does not look at anything above the roots. It must be a folder, because the walk comes from inside it. */
  async #up(): Promise<undefined> {
    this.#here = path.dirname(this.#here);
    if (this.table.accessTo(this.#here)) this.#stats = await lstatIfExists(this.#here);
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
    // Each `..` is its own step, so that a step that begins outside of the roots is noticed.
    const back = names.includes('..') ? names.indexOf('..') : names.length;
    const first = path.join(path.parse(target).root, ...names.slice(0, back));
    return this.#enter(first, [...names.slice(back), ...this.#rest]);
  }

  /** Whether the link leads to something accessible, or, before a `..`, to something that is at least listable. */
  #leadsInside(next: string): boolean {
    const back = this.#rest.indexOf('..');
    const end = path.join(next, ...this.#rest.slice(0, back < 0 ? undefined : back));
    return suffices(this.table.accessTo(end), back < 0 ? this.way.access : 'list');
  }

  #found(): Walked {
    const real = path.join(this.#here, ...this.#rest);
    const access = this.table.accessTo(real);
    if (!access || !suffices(access, this.way.access)) return { problem: 'outside' };
    // Nothing can be reached through a missing folder and back.
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

async function lstatIfExists(file: string): Promise<BigIntStats | undefined> {
  return lstat(file, { bigint: true }).catch((error) => {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  });
}
