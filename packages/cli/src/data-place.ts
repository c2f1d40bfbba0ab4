/** Where the data folder is. Loads nothing of the host, so that small commands start fast. */

import path from 'node:path';
import { UsageError } from './exit.js';
import { io } from './io.js';

export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** The usual place on each system. */
export function defaultDataFolder({ platform, env, home }: Surroundings): string {
  if (platform === 'win32')
    return path.win32.join(env.LOCALAPPDATA || path.win32.join(home, 'AppData', 'Local'), 'atrium');
  if (platform === 'darwin') return path.posix.join(home, 'Library', 'Application Support', 'atrium');
  const shared = env.XDG_DATA_HOME;
  const base = shared && path.posix.isAbsolute(shared) ? shared : path.posix.join(home, '.local', 'share');
  return path.posix.join(base, 'atrium');
}

export function dataFolderFrom(named: string | undefined, env: NodeJS.ProcessEnv): string {
  // The current folder is what this would mean to a path, and what nobody wants.
  if (named?.trim() === '') throw new UsageError('--data-dir: name a folder, or leave it out for the usual one');
  return path.resolve(named ?? defaultDataFolder({ platform: process.platform, env, home: io().home }));
}
