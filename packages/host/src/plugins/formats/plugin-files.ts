/** How a container's files are read, wherever they are: in a folder of this machine, or at a client. */
import { constants } from 'node:fs';
import { type FileHandle, open, opendir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { FOLDER_MAX_ENTRIES } from './limits.js';
import type { WarningKind } from './warnings.js';

export interface FileEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder';
}

/**
 * Paths are relative to the container, with forward slashes; the container itself is the empty path. An implementation
 * throws `FileProblem` for a single file that must not or cannot be read, and `LoadFailure` when nothing can be read.
 */
export interface PluginFiles {
  /** The entries of a folder; undefined when it does not exist. */
  list(path: string): Promise<readonly FileEntry[] | undefined>;
  /** The text of a file; undefined when it does not exist. */
  read(path: string, maxBytes: number): Promise<string | undefined>;
  uri(path: string): string;
}

/** Why one file is left out. */
export class FileProblem extends Error {
  override readonly name = 'FileProblem';

  constructor(
    readonly kind: Extract<WarningKind, 'path-escapes' | 'path-missing' | 'limit-exceeded'>,
    message: string,
  ) {
    super(message);
  }
}

/** Presents a folder inside the container as a container. */
export function filesBelow(files: PluginFiles, folder: string): PluginFiles {
  const below = (inner: string) => joined(folder, inner);
  return {
    list: (inner) => files.list(below(inner)),
    read: (inner, maxBytes) => files.read(below(inner), maxBytes),
    uri: (inner) => files.uri(below(inner)),
  };
}

export function joined(folder: string, name: string): string {
  const whole = path.posix.join(folder, name);
  return whole === '.' ? '' : whole;
}

export function parentOf(file: string): string {
  const parent = path.posix.dirname(file);
  return parent === '.' ? '' : parent;
}

export function baseName(file: string): string {
  return path.posix.basename(file);
}

/** The names of the folders that lead to a container, and finally its own. */
export function folderNames(files: PluginFiles): string[] {
  return files
    .uri('')
    .split(/[/\\]+/)
    .filter(Boolean)
    .map(decoded);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** A sort order that is the same on every machine and in every language. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Reads a folder of this machine. Compares real paths, so that no link leads out of the folder. */
export function localFiles(root: string): PluginFiles {
  return {
    async list(folder) {
      const real = await realInside(root, folder);
      return real === undefined ? undefined : orProblem(folder, () => entriesOf(real, folder));
    },
    async read(file, maxBytes) {
      const real = await realInside(root, file);
      return real === undefined ? undefined : orProblem(file, () => textOf(real, file, maxBytes));
    },
    uri: (inner) => pathToFileURL(path.resolve(root, inner)).href,
  };
}

/**
 * The real path of an entry inside; undefined when it does not exist. A missing entry behind a link that leads out is
 * refused, too, because a plugin must not learn what exists elsewhere.
 */
async function realInside(root: string, inner: string): Promise<string | undefined> {
  const realRoot = await orProblem('', () => realpath(root));
  if (realRoot === undefined) return undefined;
  if (!isInside(path.resolve(root), path.resolve(root, inner))) throw escapes(inner);
  const real = await orProblem(inner, () => realpath(path.resolve(root, inner)));
  if (real === undefined) {
    if (inner !== '') await realInside(root, parentOf(inner));
    return undefined;
  }
  if (!isInside(realRoot, real)) throw escapes(inner);
  return real;
}

function isInside(root: string, candidate: string): boolean {
  const relative = path.relative(root, candidate);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

function escapes(inner: string): FileProblem {
  return new FileProblem('path-escapes', `"${inner}" leads out of the folder, so it is left out.`);
}

async function entriesOf(real: string, shown: string): Promise<readonly FileEntry[]> {
  const entries: FileEntry[] = [];
  for await (const entry of await opendir(real)) {
    if (entries.length === FOLDER_MAX_ENTRIES) throw tooMany(shown);
    const target = entry.isSymbolicLink() ? await stat(path.join(real, entry.name)).catch(() => undefined) : entry;
    if (target?.isFile()) entries.push({ name: entry.name, kind: 'file' });
    else if (target?.isDirectory()) entries.push({ name: entry.name, kind: 'folder' });
  }
  return entries.sort((a, b) => byCodeUnits(a.name, b.name));
}

function tooMany(shown: string): FileProblem {
  return new FileProblem(
    'limit-exceeded',
    `"${shown}" has more than ${FOLDER_MAX_ENTRIES} entries, so it is not read.`,
  );
}

/** Opens neither a pipe, which would block the host, nor a link, which may just have replaced the file. */
const PLAIN_FILES_ONLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function textOf(real: string, shown: string, maxBytes: number): Promise<string | undefined> {
  const handle = await open(real, PLAIN_FILES_ONLY);
  try {
    return await textFrom(handle, shown, maxBytes);
  } finally {
    await handle.close();
  }
}

async function textFrom(handle: FileHandle, shown: string, maxBytes: number): Promise<string | undefined> {
  const stats = await handle.stat();
  if (!stats.isFile()) return undefined;
  if (stats.size > maxBytes) {
    throw new FileProblem('limit-exceeded', `"${shown}" is larger than ${maxBytes} bytes, so it is not read.`);
  }
  const bytes = Buffer.alloc(stats.size);
  const { bytesRead } = await handle.read(bytes, 0, stats.size, 0);
  return bytes.toString('utf8', 0, bytesRead);
}

const ABSENT: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR', 'ENAMETOOLONG']);

/** Undefined for a file that does not exist. Throws `FileProblem` for one that cannot be read. */
async function orProblem<Value>(shown: string, work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FileProblem) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (ABSENT.has(code)) return undefined;
    throw new FileProblem('path-missing', `"${shown}" cannot be read (${String(code ?? 'unknown error')}).`);
  }
}
