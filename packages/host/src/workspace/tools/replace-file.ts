/** Writes a file as a whole or not at all, and only where it was checked that it may. */
import { access, type FileHandle, constants as fileConstants, open, realpath, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from '../../core/contracts/tool.js';
import { makeFolder } from '../../core/util/folders.js';
import type { InsidePath } from '../../core/util/paths.js';
import { type FileVersion, isSameVersion, versionOf } from './text-file.js';

const PERMISSION_BITS = 0o7777;

export interface Replacement {
  readonly content: Buffer;
  /** What was there when it was read; undefined when there was nothing. */
  readonly before: FileVersion | undefined;
  /** Once it fires, nothing is replaced any more. */
  readonly signal: AbortSignal;
}

/**
 * Replaces what was read as `before`, or makes a new file. The content goes into a temporary file beside it first. If
 * somebody puts a link in place of the folder meanwhile, the temporary file is not behind it and the rename fails: no
 * content ever lands outside.
 */
export async function replaceFile(target: InsidePath, { content, before, signal }: Replacement): Promise<void> {
  const folder = path.dirname(target.real);
  // A rename would replace a file that may not be written.
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
    `${shown} has been changed by somebody else meanwhile. Read it again, then ask for the change anew.`,
  );
}
