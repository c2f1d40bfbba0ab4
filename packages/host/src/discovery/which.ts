/** Finds a command on PATH without running it. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from './candidate.js';
import { PATH_FOLDERS_MAX } from './limits.js';

/**
 * The full path of a command. Relative folders on PATH are left out: what lies in the folder where the host happens to
 * be started is not a command of the user's.
 */
export async function which(command: string, env: Environment): Promise<string | undefined> {
  if (/[\\/]/.test(command)) return (await isProgram(command)) ? command : undefined;
  const folders = pathOf(env).split(path.delimiter).filter(path.isAbsolute).slice(0, PATH_FOLDERS_MAX);
  const files = [...new Set(folders)].flatMap((folder) => namesOf(command, env).map((name) => path.join(folder, name)));
  const isThere = await Promise.all(files.map(isProgram));
  return files.find((_, index) => isThere[index]);
}

function pathOf(env: Environment): string {
  return env.PATH ?? env.Path ?? '';
}

function namesOf(command: string, env: Environment): string[] {
  if (process.platform !== 'win32') return [command];
  return (env.PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';').map((ending) => `${command}${ending.toLowerCase()}`);
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
