/** The data folder: made for its owner only, and refused when something in it is not what it seems. */
import { accessSync, constants, lstatSync, readlinkSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { LogOpenError } from '../core/log/errors.js';
import { makeFolderSync } from '../core/util/folders.js';
import { LOCK_FILE, NOTE_FILE } from './folder-lock.js';
import { DATABASE_PARTS } from './schema.js';

export const DATABASE_FILE = 'atrium.db';

export function prepareFolder(dataDir: string): void {
  makeDataFolder(dataDir);
  if (!statSync(dataDir).isDirectory()) {
    throw new LogOpenError('not-a-folder', `${dataDir} is not a folder: choose another data folder`);
  }
  checkAccess(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  for (const name of [...DATABASE_PARTS.map((part) => DATABASE_FILE + part), LOCK_FILE, NOTE_FILE]) {
    checkFile(path.join(dataDir, name));
  }
}

function makeDataFolder(dataDir: string): void {
  try {
    makeFolderSync(dataDir, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw notWritable(dataDir, error);
  }
}

function checkFile(file: string): void {
  const stats = lstatIfThere(file);
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) {
    const remedy = 'put the file itself there, or choose the folder it is in as the data folder';
    throw new LogOpenError('symlink', `${file} is a symbolic link to ${readlinkSync(file)}: ${remedy}`);
  }
  if (!stats.isFile()) throw new LogOpenError('not-a-file', `${file} is not a regular file: move it away`);
  checkAccess(file, constants.R_OK | constants.W_OK);
}

function lstatIfThere(file: string): Stats | undefined {
  return lstatSync(file, { throwIfNoEntry: false });
}

function checkAccess(target: string, mode: number): void {
  try {
    accessSync(target, mode);
  } catch (error) {
    throw notWritable(target, error);
  }
}

function notWritable(target: string, cause: unknown): LogOpenError {
  const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
  const remedy = 'give this user write access to it, or choose another data folder';
  return new LogOpenError('not-writable', `${target} cannot be written (${code}): ${remedy}`, { cause });
}
