/** Where configuration is looked for. */
import path from 'node:path';

export const PROJECT_FILE = 'atrium.json';

export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** The user's own file, in the usual place of each system. */
export function userConfigFile({ platform, env, home }: Surroundings): string {
  if (platform === 'win32') {
    const base = env.APPDATA || path.win32.join(home, 'AppData', 'Roaming');
    return path.win32.join(base, 'atrium', 'config.json');
  }
  if (platform === 'darwin') return path.posix.join(home, 'Library', 'Application Support', 'atrium', 'config.json');
  const shared = env.XDG_CONFIG_HOME;
  const base = shared && path.posix.isAbsolute(shared) ? shared : path.posix.join(home, '.config');
  return path.posix.join(base, 'atrium', 'config.json');
}
