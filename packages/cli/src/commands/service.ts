/**
 * `atrium service`: starts, stops and shows the host in the background, and installs it as a service of the system.
 * Every
 * command is safe to run twice.
 */

import type { Instance } from '@atrium/host/instances';
import { Command, Option } from 'commander';
import { withOwnExamples } from '../connect/host-options.js';
import { ExitCode, QuietExit } from '../exit.js';
import { io, tell } from '../io.js';

/** A host that stops in good order may wait for its providers. */
const STOP_TIMEOUT_MS = 20_000;
const LOOK_EVERY_MS = 50;
const WORD_AFTER_MS = 1_500;

const EXAMPLES = `
Examples:
  $ atrium service start           in the background, if it does not run yet
  $ atrium service status          where it is
  $ atrium service status --json   for programs
  $ atrium service stop            in good order
  $ atrium service install         from now on with every login (systemd, launchd)
  $ atrium service install -- --port 9310
                                   with options of atrium serve
  $ atrium service uninstall       no longer

Exit codes: 0 done, 1 an error; status: 0 running, 1 not running.`;

const OPTIONS_OF_SERVE = 'options of atrium serve, after --';
/** A service does not see what a shell exports. */
const KEYS_HINT = `The service has PATH and LANG of this shell and no keys of models. How to give it some:
docs/operations.md, "As a service".`;

interface ServiceOptions {
  readonly dataDir?: string;
  readonly json?: boolean;
}

export function serviceCommand(): Command {
  const command = new Command('service')
    .description('Manage the host in the background')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium service --help shows all commands)');
  for (const [name, text, act] of [
    ['start', 'Start the host, if it does not run yet', start],
    ['stop', 'Stop the host in good order', stop],
    ['status', 'Show where the host runs', status],
  ] as const) {
    const each = new Command(name)
      .description(text)
      .addOption(new Option('--data-dir <folder>', 'data folder of the host').env('ATRIUM_DATA_DIR'))
      .option('--json', 'print one JSON object and nothing else')
      .showHelpAfterError(`(atrium service ${name} --help shows all options)`)
      .exitOverride();
    withOwnExamples(each, 'service', EXAMPLES);
    command.addCommand(each.action(() => act(each.opts<ServiceOptions>())));
  }
  command.addCommand(
    systemCommand('install', 'Start the host with every login, and again when it fails', installService),
  );
  command.addCommand(systemCommand('uninstall', 'Stop the host, and remove the service', uninstallService));
  return command;
}

interface SystemOptions extends ServiceOptions {
  readonly name: string;
  readonly print?: boolean;
}

function systemCommand(name: string, text: string, act: (options: SystemOptions, args: string[]) => Promise<void>) {
  const command = new Command(name)
    .description(text)
    .addOption(new Option('--data-dir <folder>', 'data folder of the host').env('ATRIUM_DATA_DIR'))
    .option('--name <name>', 'the name of the service', 'atrium')
    .option('--json', 'print one JSON object and nothing else')
    .showHelpAfterError(`(atrium service ${name} --help shows all options)`)
    .exitOverride();
  if (name === 'install')
    command
      .option('--print', 'show the file of the service, and change nothing')
      .argument('[serve options...]', OPTIONS_OF_SERVE);
  withOwnExamples(command, 'service', EXAMPLES);
  return command.action(() => act(command.opts<SystemOptions>(), command.args));
}

async function installService(options: SystemOptions, args: string[]): Promise<void> {
  const { install, plannedUnit } = await import('../service/install.js');
  if (options.print) {
    const { file, text } = await plannedUnit({ ...options, args });
    return say(options, { file, text }, `${file}:\n\n${text.trimEnd()}`);
  }
  const { unit, outcome } = await withWord('Starting the service…', install({ ...options, args }));
  const words = {
    installed: `Atrium runs as a service from now on: ${unit.file}\nWhat it says: ${unit.logs}`,
    unchanged: `The service was installed already: ${unit.file}`,
    changed: `The service is changed: ${unit.file}\nThe host that runs keeps its options until: ${unit.restart.join(' ')}`,
  };
  say(options, { file: unit.file, outcome }, words[outcome]);
  if (outcome === 'installed') tell(KEYS_HINT);
}

async function uninstallService(options: SystemOptions): Promise<void> {
  const { uninstall } = await import('../service/install.js');
  const wasThere = await withWord('Stopping the service…', uninstall({ ...options, args: [] }));
  say(
    options,
    { wasThere },
    wasThere ? 'Atrium is no service any more. Its data stays.' : 'There was no such service.',
  );
}

async function folder({ dataDir }: ServiceOptions): Promise<string> {
  const { dataFolderFrom } = await import('../data-folder.js');
  return dataFolderFrom(dataDir, io().env);
}

/** Says why it takes so long if the work is not done after a while. */
async function withWord<T>(text: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => tell(text), WORD_AFTER_MS);
  return work.finally(() => clearTimeout(timer));
}

async function start(options: ServiceOptions): Promise<void> {
  const { startHost } = await import('../service/start-host.js');
  const { instance, isNew } = await withWord('Starting the host…', startHost(await folder(options), []));
  say(
    options,
    { ...instance, isNew },
    `${isNew ? 'Atrium is running' : 'Atrium was running already'}: ${instance.url}\n${wayIn(instance)}`,
  );
}

async function stop(options: ServiceOptions): Promise<void> {
  const { findHost } = await import('../service/running-host.js');
  const { runningInstances } = await import('@atrium/host/instances');
  const dataDir = await folder(options);
  const found = await findHost(dataDir);
  if (!found) return say(options, { wasRunning: false }, 'Atrium was not running.');
  const { pid } = found.instance;
  process.kill(pid, 'SIGTERM');
  // A host that no longer answers keeps its folder until it has stored everything and removed its instance file.
  const isThere = async () => (await runningInstances(dataDir)).some((instance) => instance.pid === pid);
  await withWord('Waiting for providers and turns to end…', untilGone(pid, isThere));
  say(options, { wasRunning: true, pid }, 'Atrium has stopped.');
}

async function untilGone(pid: number, isThere: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + STOP_TIMEOUT_MS; await isThere(); ) {
    if (performance.now() > deadline) throw new Error(`process ${pid} did not stop. To end it at once: kill -9 ${pid}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function status(options: ServiceOptions): Promise<void> {
  const { findHost } = await import('../service/running-host.js');
  const found = await findHost(await folder(options));
  if (!found) {
    say(options, { isRunning: false }, 'Atrium is not running. Start it with: atrium service start');
    throw new QuietExit(ExitCode.Failed);
  }
  const { url, pid, startedAt } = found.instance;
  say(
    options,
    { isRunning: true, ...found.instance },
    `Atrium is running: ${url} (process ${pid}, since ${startedAt})\n${wayIn(found.instance)}`,
  );
}

/** Leaves the token out of the link, because others may read this output in a log or over a shoulder. */
function wayIn({ url, tokenFile }: Instance): string {
  const page = `Page: ${url.replace(/^ws/, 'http')}/`;
  return tokenFile === undefined ? page : `${page} (it asks for the token in ${tokenFile})`;
}

function say({ json }: ServiceOptions, value: object, text: string): void {
  io().stdout.write(`${json ? JSON.stringify(value) : text}\n`);
}
