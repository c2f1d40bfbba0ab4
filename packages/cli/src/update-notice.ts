/**
 * The notice that a newer version is out. It is off unless the user's own file says `"updateNotice": true`: without that,
 * nothing is asked. npm asks, with the registry, proxy and rights that it is configured with, once a day and in a process
 * that the command does not wait for. What it finds is said at the end of a later command.
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
/** As npm writes it. Previews are not for everybody. */
const RELEASE = /^"?(\d{1,9})\.(\d{1,9})\.(\d{1,9})"?\s*$/;

/** npm neither tries again nor looks for news of its own. */
const NPM_SETTINGS = {
  npm_config_update_notifier: 'false',
  npm_config_fetch_retries: '0',
  npm_config_fetch_timeout: '30000',
  npm_config_audit: 'false',
};

export const HOW_TO_UPDATE = `npm install --global ${PACKAGE}`;

/** One line on standard error, where a person reads it. Whatever goes wrong, the command has succeeded. */
export async function tellUpdate(): Promise<void> {
  const newer = await newerVersion();
  if (newer !== undefined) tell(`Atrium ${newer} is out; this is ${version()}. To update: ${HOW_TO_UPDATE}`);
}

/** A newer version, as far as is known; undefined when the notice is off. Has npm ask again when it is time. */
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
  // A clock that was wrong must not end the asking.
  return Math.abs(Date.now() - asked) > ASK_EVERY_MS;
}

/** In the home folder, so that a project does not say where npm asks. npm writes its answer into the file by itself. */
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
