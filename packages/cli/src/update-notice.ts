/**
 * The notice about a newer version. It is off unless the user's own file says `"updateNotice": true`. npm asks its
 * registry, with
 * its own proxy and credentials, once a day, in a process that the command does not wait for. A later command prints
 * the result
 * at its end.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { readConfigFile, userConfigFile } from '@atrium/host/config-file';
import { codeCacheFolder } from './bundled/code-cache.js';
import { io, tell } from './io.js';
import { version } from './places.js';

const PACKAGE = 'atrium';
const ANSWER_FILE = 'latest-version.json';
const ASK_EVERY_MS = 24 * 60 * 60 * 1_000;
/** A version as npm prints it. Ignores previews. */
const RELEASE = /^"?(\d{1,9})\.(\d{1,9})\.(\d{1,9})"?\s*$/;

/** Keeps npm from trying again, and from looking for its own updates. */
const NPM_SETTINGS = {
  npm_config_update_notifier: 'false',
  npm_config_fetch_retries: '0',
  npm_config_fetch_timeout: '30000',
  npm_config_audit: 'false',
};

export const HOW_TO_UPDATE = `npm install --global ${PACKAGE}`;

/** Prints one line to standard error in a terminal. A failure here never fails the command. */
export async function tellUpdate(): Promise<void> {
  const newer = await newerVersion();
  if (newer !== undefined) tell(`Atrium ${newer} is out; this is ${version()}. To update: ${HOW_TO_UPDATE}`);
}

/** The newer version, if one is known; undefined if the notice is off. Makes npm ask again when it is time. */
export async function newerVersion(): Promise<string | undefined> {
  try {
    if (!(await isSwitchedOn())) return undefined;
    const folder = codeCacheFolder({ platform: process.platform, env: io().env, home: io().home });
    if (folder === undefined) return undefined;
    const file = path.join(folder, ANSWER_FILE);
    const known = numbersIn(answerIn(file));
    if (isTimeToAsk(file)) ask(file);
    return known && isNewer(known, numbersIn(version())) ? known.join('.') : undefined;
  } catch {
    return undefined;
  }
}

export async function isSwitchedOn(): Promise<boolean> {
  const file = userConfigFile({ platform: process.platform, env: io().env, home: io().home });
  return (await readConfigFile(file))?.config.updateNotice === true;
}

function answerIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function isTimeToAsk(file: string): boolean {
  const asked = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  // A date in the future, from a wrong clock, must not stop the checks.
  return Math.abs(Date.now() - asked) > ASK_EVERY_MS;
}

/**
 * Runs in the home folder, so that a project cannot choose npm's registry. npm writes its answer into the file by
 * itself.
 */
function ask(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const answer = openSync(file, 'w', 0o600);
  try {
    const npm = spawn('npm', ['view', PACKAGE, 'version', '--json'], {
      cwd: io().home,
      env: { ...io().env, ...NPM_SETTINGS },
      stdio: ['ignore', answer, 'ignore'],
      detached: true,
      windowsHide: true,
      shell: process.platform === 'win32',
    });
    npm.on('error', () => {});
    npm.unref();
  } finally {
    closeSync(answer);
  }
}

function numbersIn(text: string): number[] | undefined {
  return RELEASE.exec(text)?.slice(1).map(Number);
}

function isNewer(known: readonly number[], own: readonly number[] | undefined): boolean {
  if (!own) return false;
  const at = known.findIndex((number, index) => number !== own[index]);
  return at >= 0 && (known[at] ?? 0) > (own[at] ?? 0);
}
