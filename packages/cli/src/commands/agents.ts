/** `atrium agents`: what agents there are, and why others are not there. */
import { Command, Option } from 'commander';

const EXAMPLES = `
Nothing is started: keys are looked for in the environment, model servers on their usual ports of this machine, commands
on PATH. "atrium serve" offers the same agents.

Examples:
  $ atrium agents                  what is there, and how to get the rest
  $ atrium agents --json           for programs
  $ atrium agents --trust-folder   with the atrium.json of this folder

Exit codes: 0 done, 2 called in a wrong way or a configuration file is broken.`;

export const TRUST_TEXT = 'use the atrium.json of this folder, and run what it names';

interface AgentsOptions {
  readonly json?: boolean;
  readonly script?: readonly string[];
  readonly trustFolder?: boolean;
}

export function agentsCommand(): Command {
  const command = new Command('agents')
    .description('Show which agents were found, and why others were not')
    .option('--json', 'print one JSON object and nothing else')
    .addOption(
      new Option('--script <file>', 'scripted agent to offer; may be repeated').argParser(
        (file: string, before: readonly string[] = []) => [...before, file],
      ),
    )
    .option('--trust-folder', TRUST_TEXT)
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium agents --help shows all options)');
  return command.action(() => agents(command.opts<AgentsOptions>()));
}

async function agents({ json = false, script, trustFolder = false }: AgentsOptions): Promise<void> {
  const { findAgents } = await import('../agents/find-agents.js');
  const { agentReport } = await import('../agents/agent-report.js');
  const { agentTable, COLOURED, PLAIN } = await import('../agents/agent-table.js');
  const { scriptsFrom } = await import('../serve/settings.js');
  const report = agentReport(await findAgents({ scripts: script ?? scriptsFrom(process.env), trustFolder }));
  const style = process.stdout.isTTY && !process.env.NO_COLOR ? COLOURED : PLAIN;
  process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : agentTable(report, style));
}
