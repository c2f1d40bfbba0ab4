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
/** Names in one path, also while links are followed: the cost of a path grows faster than its length. */
export const PATH_MAX_NAMES = 256;
/** Links that lead from one to the next; the kernel's own limit. */
export const LINKS_MAX = 40;
/** How often the way to a file may change under us before we give up. */
const SWAPS_MAX = 8;
const PATH_MAX_BYTES = 4_096;
const NAME_MAX_BYTES = 255;
/** Names that Windows reads as something else: devices, short names, parts of a file, names with dropped ends. */
const WINDOWS_TRAPS = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|~\d|[:*?"<>|]|[. ]$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\x00-\x1f\x7f]/;

type FilePath = { readonly path: string } | { readonly problem: string };

export function filePathOf(uri: string): FilePath {
  if (uri.length > URI_MAX_CHARACTERS) return { problem: 'the URI is too long' };
  if (!/^file:\//i.test(uri)) return { problem: 'only files of this host, as file: URIs, can be had here' };
  if (/[?#\\]/.test(uri) || CONTROL.test(uri)) {
    return { problem: 'a file: URI has no query, fragment, backslash or control character' };
  }
  const decoded = decode(uri);
  return decoded === undefined ? { problem: 'this is no path of this machine' } : checked(decoded);
}

/** Dots are resolved by the parser, also encoded ones; encoded slashes and other hosts make it fail. */
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
  const isTrap = process.platform === 'win32' && names.slice(1).some((name) => WINDOWS_TRAPS.test(name));
  return isTrap ? { problem: 'the path has a name that Windows reads as something else' } : { path: file };
}

interface Asked {
  readonly uri: string;
  readonly clientId: string;
  readonly wanted: Access;
  /** Whether a link at the very end stands for its target; otherwise for itself. */
  readonly followLast?: boolean;
}

/** A file or folder, existing or to be made, with its parent folder held open. */
export interface PinnedEntry extends Found {
  readonly uri: string;
  /** The path that was asked for. */
  readonly asked: string;
  readonly held: PinnedFolder;
  /** Its name in the folder that is held; when more is missing, the first that is. */
  readonly name: string;
  /** Fails when it must stay as a whole: sessions work in it, or something in it is not for clients to change. */
  checkMayGo(): void;
  /** The directory of customizations that it lies in. */
  readonly directory: string | undefined;
}

export class FileAccess {
  constructor(private readonly roots: ClientRoots) {}

  /** Acts on the entry. Tries again when something on the path is exchanged at the same moment. */
  async at<T>(asked: Asked, act: (entry: PinnedEntry) => Promise<T>): Promise<T> {
    const { uri } = asked;
    const file = filePathOf(uri);
    if ('problem' in file) throw refused(`${uri}: ${file.problem}`);
    try {
      await this.roots.prepare(file.path, asked.wanted);
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
      // From here on the folder is held open, and has to be closed even when something fails.
      const held = await pinFolder(found.folder);
      return { done: await act({ ...found, ...facts, uri: asked.uri, asked: file, held }).finally(() => held.close()) };
    } catch (error) {
      // A link has come to where none was.
      if (error instanceof MovedError || codeOf(error) === 'ELOOP') return { moved: error };
      throw error;
    }
  }

  /** Whether a path leads to a folder, as far as the client may know. */
  async isFolder(clientId: string, file: string): Promise<boolean> {
    const found = await walk(await this.roots.tableFor(clientId), file, { wanted: 'list', followLast: true });
    return 'stats' in found && found.stats?.isDirectory() === true;
  }
}

function factsOf(table: RootTable, { real, names }: Found, file: string) {
  const directory = table.directoryOf(file);
  // Links in such a directory are followed only as long as they stay inside of it.
  if (directory !== undefined && table.directoryOf(real) !== directory)
    throw refused('a link leads out of the directory');
  return { name: names[0] ?? '', checkMayGo: () => checkMayGo(table, real), directory };
}

function checkMayGo(table: RootTable, real: string): void {
  if (table.holdsRoot(real)) throw refused(`${real} holds a folder that sessions work in, and stays as it is`);
  if (table.holdsClosed(real)) throw refused(`${real} is where other tools keep what clients do not change, and stays`);
}

async function find(table: RootTable, { uri, wanted, followLast = true }: Asked, file: string): Promise<Found> {
  const found = await walk(table, file, { wanted, followLast });
  if (!('problem' in found)) {
    await checkAllowedPath(found.real, uri);
    return found;
  }
  if (found.problem === 'outside') throw denied(uri, wanted);
  throw notFound(uri, found.problem === 'loop' ? 'is a link that leads back to itself, or too far' : undefined);
}

/**
 * Follows a path name by name, links included, and looks at nothing that is outside of the roots, not even to see
 * whether it exists. The result is true for a moment only: callers hold the folder open before they act on it.
 */
interface Found {
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

type Problem = 'outside' | 'missing' | 'loop';

type Walked = Found | { readonly problem: Problem };

interface Way {
  readonly wanted: Access;
  /** Whether a link at the very end is followed, too. */
  readonly followLast: boolean;
}

function walk(table: RootTable, file: string, way: Way): Promise<Walked> {
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
