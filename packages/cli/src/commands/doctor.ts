/** `atrium doctor`: finds problems, and says what to do. */

import { Command, Option } from 'commander';
import { jsonOption } from '../connect/host-options.js';
import { ExitCode, QuietExit } from '../exit.js';
import { io, print, printJson } from '../io.js';

const EXAMPLES = `
Looks at Node, the data folder, the disk, the running host, its token, the ports, the log, agents and trusted folders. It
starts no host. With --cluster it looks at the engine of ATRIUM_CLUSTER_URL and the other hosts instead. A damaged log is mended, as the next start of a host would do; what could not be read is kept.

Examples:
  $ atrium doctor
  $ atrium doctor --json
  $ atrium doctor --data-dir /srv/atrium
  $ atrium doctor --cluster

Exit codes: 0 Atrium can work, 1 something prevents it, 2 called in a wrong way.`;

const MARKS = { fine: '✓', warning: '!', problem: '✗' } as const;

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description('Find problems, and say how to fix them')
    .addOption(jsonOption())
    .addOption(new Option('--data-dir <folder>', 'data folder to check').env('ATRIUM_DATA_DIR'))
    .option('--cluster', 'look at the engine and the other hosts of ATRIUM_CLUSTER_URL')
    .addOption(
      new Option('--cluster-secret-file <file>', 'ask the other hosts with this secret').env(
        'ATRIUM_CLUSTER_SECRET_FILE',
      ),
    )
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium doctor --help shows all options)');
  return command.action(() => doctor(command.opts<DoctorOptions>()));
}

interface DoctorOptions {
  readonly json?: boolean;
  readonly dataDir?: string;
  readonly cluster?: boolean;
  readonly clusterSecretFile?: string;
}

async function doctor({ json, dataDir, cluster, clusterSecretFile }: DoctorOptions): Promise<void> {
  const { dataFolderFrom } = await import('../data-folder.js');
  const { examine } = await import('../doctor-checks.js');
  const { printable } = await import('../text/printable.js');
  const { styleFor } = await import('../text/style.js');
  const findings = cluster
    ? await (await import('../cluster/cluster-checks.js')).examineCluster(io().env, clusterSecretFile)
    : await examine(dataFolderFrom(dataDir, io().env));
  const style = styleFor(io().stdout, io().env);
  const colours = { fine: style.green, warning: style.yellow, problem: style.red };
  if (json) printJson(findings);
  for (const { about, state, text, remedy } of json ? [] : findings) {
    print(`${colours[state](MARKS[state])} ${about.padEnd(10)} ${printable(text)}`);
    if (remedy !== undefined) print(`             ${style.bold(printable(remedy))}`);
  }
  if (findings.some(({ state }) => state === 'problem')) throw new QuietExit(ExitCode.Failed);
}
