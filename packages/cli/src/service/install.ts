/** Installs the host as a service of the system, and removes that service. */

import { spawn } from 'node:child_process';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { dataFolderFrom, makePrivate } from '../data-folder.js';
import { UsageError } from '../exit.js';
import { io } from '../io.js';
import { COMMAND } from '../places.js';
import { findHost } from './running-host.js';
import { optionsOf } from './start-host.js';
import { MARK, type ServiceUnit, serviceUnit } from './unit.js';

const OWNER_ONLY = 0o600;
/** A newline would begin a new line of the unit, and no path needs other control characters. */
const CONTROL = /\p{Cc}/u;
const PATH_OPTIONS = ['script', 'trust', 'connectionTokenFile', 'tlsCert', 'tlsKey', 'wireLog'];
const NAME = /^[a-z\d][a-z\d_-]{0,62}$/i;

export interface InstallOptions {
  readonly dataDir?: string;
  readonly name: string;
  /** Further options of `atrium serve`. */
  readonly args: readonly string[];
}

export interface Installed {
  readonly unit: ServiceUnit;
  readonly outcome: 'installed' | 'unchanged' | 'changed';
}

/** The unit that `install` would write. */
export async function plannedUnit({ dataDir: named, name, args }: InstallOptions): Promise<ServiceUnit> {
  if (!NAME.test(name)) throw new UsageError(`--name: "${name}" is no name of a service: use letters, digits, - and _`);
  const { env, home } = io();
  const dataDir = dataFolderFrom(named, env);
  const serve = ['serve', '--quiet', '--log-level', 'info', '--data-dir', dataDir, ...(await checkedOptions(args))];
  const command = [process.execPath, COMMAND, ...serve];
  const strange = [...command, env.PATH ?? '', env.LANG ?? ''].find((text) => CONTROL.test(text));
  if (strange !== undefined)
    throw new UsageError(`${JSON.stringify(strange)} has control characters and cannot stand in the file of a service`);
  const unit = serviceUnit({
    ...{ platform: process.platform, env, home, name, command, dataDir },
    uid: process.getuid?.() ?? 0,
  });
  if (unit) return unit;
  throw new UsageError(
    `there is no service manager that Atrium knows on ${process.platform}: run \`atrium serve\` in one of yours`,
  );
}

/** Checks options of `atrium serve`: wrong ones must fail now, and not in a log at the next login. */
async function checkedOptions(args: readonly string[]): Promise<string[]> {
  const { serveCommand } = await import('../commands/serve.js');
  const command = serveCommand().exitOverride();
  const { operands, unknown } = command.parseOptions([...args]);
  const wrong = [...unknown, ...operands][0];
  if (wrong !== undefined)
    throw new UsageError(`atrium serve knows no "${wrong}" (atrium serve --help shows all options)`);
  const isGiven = (name: string) => command.getOptionValueSource(name) === 'cli';
  if (['dataDir', 'detach', 'stdio'].some(isGiven))
    throw new UsageError('name --data-dir before the --, and leave --detach and --stdio out');
  if (isGiven('connectionToken'))
    throw new UsageError('a token would stand in the file of the service: put it into a file, --connection-token-file');
  // The service runs in another folder.
  for (const name of PATH_OPTIONS.filter(isGiven)) {
    const value: unknown = command.getOptionValue(name);
    const absolute = Array.isArray(value) ? value.map((each) => path.resolve(each)) : path.resolve(String(value));
    command.setOptionValueWithSource(name, absolute, 'cli');
  }
  return optionsOf(command);
}

export async function install(options: InstallOptions): Promise<Installed> {
  const unit = await plannedUnit(options);
  const present = await contentOf(unit.file);
  if (present !== undefined) {
    refuseForeign(unit, present);
    if (present === unit.text) return { unit, outcome: 'unchanged' };
    await writeUnit(unit);
    await perform(unit.enable.slice(0, -1), unit);
    return { unit, outcome: 'changed' };
  }
  const dataDir = dataFolderFrom(options.dataDir, io().env);
  const running = await findHost(dataDir);
  if (running)
    throw new Error(
      `a host of ${dataDir} runs already (process ${running.instance.pid}). Stop it first: atrium service stop`,
    );
  await makePrivate(dataDir);
  await writeUnit(unit);
  try {
    await perform(unit.enable, unit);
  } catch (error) {
    // A service that does not start now must not start later by surprise.
    await rm(unit.file, { force: true });
    throw error;
  }
  return { unit, outcome: 'installed' };
}

/** True if there was a service. */
export async function uninstall(options: InstallOptions): Promise<boolean> {
  const unit = await plannedUnit(options);
  const present = await contentOf(unit.file);
  if (present === undefined) return false;
  refuseForeign(unit, present);
  await perform(unit.disable, unit);
  await rm(unit.file, { force: true });
  return true;
}

function refuseForeign({ file }: ServiceUnit, content: string): void {
  if (!content.includes(MARK))
    throw new Error(`${file} was not written by Atrium: move it away, or choose another name with --name`);
}

async function contentOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** Writes the file whole or not at all. */
async function writeUnit({ file, text }: ServiceUnit): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}.new`;
  await writeFile(fresh, text, { mode: OWNER_ONLY });
  await chmod(fresh, OWNER_ONLY);
  await rename(fresh, file);
}

async function perform(commands: ServiceUnit['enable'], { file }: ServiceUnit): Promise<void> {
  for (const command of commands) {
    const problem = await run(command);
    if (problem !== undefined)
      throw new Error(`\`${command.join(' ')}\` failed: ${problem}\nThe service would be ${file}; --print shows it.`);
  }
}

/** Resolves with the error of the program, if it failed. */
function run([program = '', ...args]: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env: io().env, stdio: ['ignore', 'ignore', 'pipe'] });
    let words = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(-2_000);
    });
    child.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ENOENT' ? `there is no ${program} on this machine` : error.message),
    );
    child.once('close', (code) => resolve(code === 0 ? undefined : words.trim() || `exit code ${code}`));
  });
}
