/** Files in a folder of this machine. Real paths are compared, so that no link leads out of the folder. */
import { constants } from 'node:fs';
import { type FileHandle, open, opendir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { byCodeUnits, type FileEntry, FileProblem, type PluginFiles, parentOf } from './files.js';
import { FOLDER_MAX_ENTRIES } from './limits.js';

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
 * The real path of something inside; undefined when it is not there. What is missing behind a link that leads out is
 * refused too: a plugin must not learn what exists elsewhere.
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

/** A pipe would keep the host waiting and a link could have been put in place just now: neither is opened. */
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

/** What is not there gives undefined; what is there and cannot be read is a problem of that one file. */
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
