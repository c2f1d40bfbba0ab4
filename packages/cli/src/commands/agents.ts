/** `atrium agents`: lists the agents, and says why others are missing. */

import { Command, Option } from 'commander';
import { io } from '../io.js';

const EXAMPLES = `
Asks the host that runs on the data folder, since its environment is its own, and says what only this shell would find.
Where none runs, or with --script or --trust, it shows what "atrium serve" would offer from here: keys are looked for in
the environment, model servers on their usual ports of this machine, commands on PATH. Nothing is started.

Examples:
  $ atrium agents                  what is there, and how to get the rest
  $ atrium agents --json           for programs
  $ atrium agents --trust .        with the atrium.json of this folder

Exit codes: 0 done, 2 called in a wrong way or a configuration file is broken.`;

export const TRUST_TEXT = 'let a folder start what its atrium.json names; may be repeated';

interface AgentsOptions {
  readonly json?: boolean;
  readonly script?: readonly string[];
  readonly trust?: readonly string[];
  readonly dataDir?: string;
}

export function agentsCommand(): Command {
  const command = new Command('agents')
    .description('List the agents, and say why others are missing')
    .option('--json', 'print one JSON object and nothing else')
    .addOption(new Option('--script <file>', 'scripted agent to offer; may be repeated').argParser(collected))
    .addOption(new Option('--trust <folder>', TRUST_TEXT).argParser(collected))
    .addOption(new Option('--data-dir <folder>', 'data folder with the trusted folders').env('ATRIUM_DATA_DIR'))
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium agents --help shows all options)');
  return command.action(() => agents(command.opts<AgentsOptions>()));
}

async function agents({ json = false, script, trust, dataDir }: AgentsOptions): Promise<void> {
  const { findAgents } = await import('../agents/find-agents.js');
  const { agentReport, agentTable, askHost } = await import('../agents/agent-report.js');
  const { findHost } = await import('../service/running-host.js');
  const { styleFor } = await import('../text/style.js');
  const { dataFolderFrom } = await import('../data-folder.js');
  const { scriptsFrom } = await import('../serve/settings.js');
  const { namedFolders, trustedFolders } = await import('../trusted-folders.js');
  const folder = dataFolderFrom(dataDir, io().env);
  const scripts = script ?? scriptsFrom(io().env);
  const named = await namedFolders(trust ?? [], { log: () => {} });
  const found = await findAgents({ scripts, dataDir: folder, trust: trustedFolders(folder, named) });
  const here = agentReport(found);
  const host = script || trust ? undefined : await findHost(folder);
  const report = host ? await askHost(host, folder, here) : here;
  const style = styleFor(io().stdout, io().env);
  io().stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : agentTable(report, style));
}

function collected(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
