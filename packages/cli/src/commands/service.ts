/** `atrium service`: starts, stops and shows the host in the background. Each is safe to run twice. */

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

Exit codes: 0 done, 1 an error; status: 0 running, 1 not running.`;

interface ServiceOptions {
  readonly dataDir?: string;
  readonly json?: boolean;
}

export function serviceCommand(): Command {
  const command = new Command('service')
    .description('The host in the background')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium service --help shows all commands)');
  for (const [name, text, act] of [
    ['start', 'Start it, if it does not run yet', start],
    ['stop', 'Stop it in good order', stop],
    ['status', 'Show where it runs', status],
  ] as const) {
    const each = new Command(name)
      .description(text)
      .addOption(new Option('--data-dir <folder>', 'whose host').env('ATRIUM_DATA_DIR'))
      .option('--json', 'print one JSON object and nothing else')
      .showHelpAfterError(`(atrium service ${name} --help shows all options)`)
      .exitOverride();
    withOwnExamples(each, 'service', EXAMPLES);
    command.addCommand(each.action(() => act(each.opts<ServiceOptions>())));
  }
  return command;
}

async function folder({ dataDir }: ServiceOptions): Promise<string> {
  const { dataFolderFrom } = await import('../data-folder.js');
  return dataFolderFrom(dataDir, io().env);
}

/** After this time the user is told why it takes so long. */
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
  // A host that no longer answers has its folder until it has stored everything and takes its note away.
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

/** The link itself would hold the token, and this may be read by others: into a log, or over a shoulder. */
function wayIn({ url, tokenFile }: Instance): string {
  const page = `Page: ${url.replace(/^ws/, 'http')}/`;
  return tokenFile === undefined ? page : `${page} (it asks for the token in ${tokenFile})`;
}

function say({ json }: ServiceOptions, value: object, text: string): void {
  io().stdout.write(`${json ? JSON.stringify(value) : text}\n`);
}
