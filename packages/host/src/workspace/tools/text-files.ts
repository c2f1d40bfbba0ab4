/**
 * How tools write text files: where they may write, which version they read, and how they replace a file as a whole.
 */
import type { BigIntStats } from 'node:fs';
import {
  access,
  type FileHandle,
  constants as fileConstants,
  lstat,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import { makeFolder } from '@atrium/core/util/folders.js';
import {
  checkAllowedPath,
  type Folders,
  type InsidePath,
  insidePath,
  isInGit,
  requestedPath,
} from '@atrium/core/util/paths.js';
import { looksBinary } from '@atrium/core/util/text.js';

export const EDIT_MAX_BYTES = 8 * 2 ** 20;
const BOM = '\uFEFF';
export const PERMISSION_BITS = 0o7777;

/**
 * Resolves a file that a tool wants to write; it need not exist. Follows links as long as they stay inside the
 * session's folder. Refuses `.git`.
 */
export async function resolveTarget(folders: Folders, asked: string): Promise<InsidePath> {
  const { roots, wanted } = await requestedPath(folders, asked);
  const target = insidePath(roots, await realTarget(wanted, asked), asked);
  await checkAllowedPath(target.real, asked);
  if (isInGit(target.shown.split('/'))) {
    // Git runs programs from there, such as hooks and file system monitors.
    throw new ToolFailure('PROTECTED', `${target.shown} belongs to Git. Change it with git commands in the shell.`);
  }
  return target;
}

/** The real path of the part that exists, joined with the names that do not exist yet. */
async function realTarget(wanted: string, asked: string): Promise<string> {
  const missing: string[] = [];
  for (let current = wanted; ; current = path.dirname(current)) {
    const real = await realpath(current).catch((error) => undefinedIfMissing(error, asked));
    if (real !== undefined) return path.join(real, ...missing);
    if (await isLink(current)) throw new ToolFailure('DEAD_LINK', `"${asked}" is a link, or behind one, to nothing.`);
    if (current === path.dirname(current)) return wanted;
    missing.unshift(path.basename(current));
  }
}

function undefinedIfMissing(error: unknown, asked: string): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return undefined;
  if (code === 'ENOTDIR') throw new ToolFailure('NOT_A_FOLDER', `Part of "${asked}" is a file, not a folder.`);
  if (code === 'ELOOP') throw new ToolFailure('DEAD_LINK', `"${asked}" is a link that leads back to itself.`);
  throw error;
}

async function isLink(file: string): Promise<boolean> {
  return lstat(file).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
}

/** Enough to tell whether a file has changed. */
export type FileVersion = Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs' | 'mode'>;

/** A whole text file: its text, the marks that show how it was written, and which version was read. */
export interface TextFile {
  /** Without the byte order mark. */
  readonly text: string;
  /** The byte order mark that some programs put before UTF-8; usually empty. */
  readonly bom: string;
  readonly lineEnding: '\n' | '\r\n';
}

/** The current version of a file; undefined when it does not exist. Refuses anything but a plain file. */
export async function existingFile({ real, shown }: InsidePath): Promise<FileVersion | undefined> {
  const stats = await stat(real, { bigint: true }).catch(ifMissing);
  if (stats?.isDirectory()) throw new ToolFailure('NOT_A_FILE', `${shown} is a folder.`);
  if (stats && !stats.isFile()) throw new ToolFailure('NOT_A_FILE', `${shown} is not a plain file.`);
  return stats;
}

export async function versionOf(file: string): Promise<FileVersion | undefined> {
  return stat(file, { bigint: true }).catch(ifMissing);
}

/** Whether the file is unchanged, or still missing. */
export function isSameVersion(one: FileVersion | undefined, other: FileVersion | undefined): boolean {
  if (!one || !other) return one === other;
  return one.ino === other.ino && one.size === other.size && one.mtimeNs === other.mtimeNs;
}

function ifMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}

/** The text of a file; undefined when it is too large, or is not text that can be written back unchanged. */
export async function readText({ real }: InsidePath, { size }: FileVersion): Promise<TextFile | undefined> {
  if (size > EDIT_MAX_BYTES) return undefined;
  const bytes = await readFile(real);
  if (looksBinary(bytes)) return undefined;
  try {
    return textFile(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function textFile(whole: string): TextFile {
  const bom = whole.startsWith(BOM) ? BOM : '';
  const text = whole.slice(bom.length);
  const all = text.split('\n').length - 1;
  const windows = text.split('\r\n').length - 1;
  return { text, bom, lineEnding: windows > all / 2 ? '\r\n' : '\n' };
}

interface Replacement {
  readonly content: Buffer;
  /** The version that was read; undefined when there was no file. */
  readonly before: FileVersion | undefined;
  /** Once it fires, the file is no longer replaced. */
  readonly signal: AbortSignal;
}

/**
 * Replaces the file that was read as `before`, or creates a new one, completely or not at all. Writes a temporary file
 * beside it and renames that. If a program replaces the folder by a link meanwhile, the rename fails, because the
 * temporary file is not behind the link, and no content ends up outside.
 */
export async function replaceFile(target: InsidePath, { content, before, signal }: Replacement): Promise<void> {
  const folder = path.dirname(target.real);
  // Without this check, the rename would replace a write-protected file.
  if (before) await access(target.real, fileConstants.W_OK);
  else await makeFolder(folder);
  const temporary = path.join(folder, `.atrium-${crypto.randomUUID()}.tmp`);
  try {
    const handle = await open(temporary, 'wx');
    await fill(handle, { target, temporary, content, before }).finally(() => handle.close());
    await checkUnchanged(target, before);
    signal.throwIfAborted();
    await rename(temporary, target.real);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

interface Filling {
  readonly target: InsidePath;
  readonly temporary: string;
  readonly content: Buffer;
  readonly before: FileVersion | undefined;
}

async function fill(handle: FileHandle, { target, temporary, content, before }: Filling): Promise<void> {
  if ((await realpath(temporary)) !== temporary) {
    throw new ToolFailure('OUTSIDE_FOLDER', `The folder of ${target.shown} has become a link meanwhile.`);
  }
  await handle.writeFile(content);
  if (before) await handle.chmod(Number(before.mode) & PERMISSION_BITS);
  await handle.sync();
}

async function checkUnchanged(target: InsidePath, before: FileVersion | undefined): Promise<void> {
  if (!isSameVersion(before, await versionOf(target.real))) throw changedMeanwhile(target);
}

export function changedMeanwhile({ shown }: InsidePath): ToolFailure {
  return new ToolFailure(
    'CHANGED',
    `${shown} was changed by someone else meanwhile. Read it again, then repeat the change.`,
  );
}
