/** Which shell a person gets, and how it is started so that it tells where commands begin and end. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { userInfo } from 'node:os';
import path from 'node:path';
import type { Environment } from '../../../core/util/child-environment.js';
import { BASH_FILE } from './bash.js';

type Vars = Readonly<Record<string, string>>;

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Vars;
  /** What marks of this shell carry; absent when it makes none. */
  readonly nonce?: string;
}

export interface LaunchOptions {
  readonly shell: string;
  readonly env: Vars;
  /** Where the scripts are. */
  readonly scripts: string;
  readonly platform?: NodeJS.Platform;
}

/** On a Mac every terminal begins with a login, and users keep their settings accordingly. */
export function launchOf({ shell, env, scripts, platform = process.platform }: LaunchOptions): Launch {
  const isLogin = platform === 'darwin';
  const nonce = randomUUID();
  const marked: Vars = { ...env, ATRIUM_TERMINAL_NONCE: nonce };
  switch (path.basename(shell)) {
    case 'bash': {
      const login: Vars = isLogin ? { ATRIUM_TERMINAL_LOGIN: '1' } : {};
      const args = ['--init-file', path.join(scripts, BASH_FILE), '-i'];
      return { file: shell, args, env: { ...marked, ...login }, nonce };
    }
    case 'zsh': {
      const own: Vars = env.ZDOTDIR === undefined ? {} : { ATRIUM_TERMINAL_ZDOTDIR: env.ZDOTDIR };
      const args = isLogin ? ['-l', '-i'] : ['-i'];
      return { file: shell, args, env: { ...marked, ...own, ZDOTDIR: scripts }, nonce };
    }
    default:
      return { file: shell, args: isLogin ? ['-l'] : [], env };
  }
}

/** Shells that are there to keep somebody out. */
const NO_SHELLS: ReadonlySet<string> = new Set(['nologin', 'false', 'true']);

/** The user's shell, or the plainest one there is. */
export async function userShell(env: Environment = process.env): Promise<string> {
  if (process.platform === 'win32') return env.ComSpec ?? 'cmd.exe';
  for (const shell of [env.SHELL, shellInAccount(), '/bin/bash']) {
    if (shell && path.isAbsolute(shell) && !NO_SHELLS.has(path.basename(shell)) && (await canRun(shell))) return shell;
  }
  return '/bin/sh';
}

function shellInAccount(): string | null {
  try {
    return userInfo().shell;
  } catch {
    return null;
  }
}

async function canRun(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
