/** `atrium usage`: the tokens that agents used, and their cost. */
import { Command, Option } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, wholeNumber, withHostOptions } from '../connect/host-options.js';
import { callExtension, withClient } from '../connect/with-client.js';
import { io, print, printJson } from '../io.js';

const EXAMPLES = `
Counts the tokens of every turn, also of sessions that were removed since. Money stands where a price is known and no
subscription pays; prices can be set in the configuration. By session, all time counts.
${HOST_HELP}

Examples:
  $ atrium usage                       the last 30 days, day by day
  $ atrium usage --by model --days 7
  $ atrium usage --by session
  $ atrium usage --by project --csv > usage.csv
  $ atrium usage --json

Exit codes: 0 done, 1 an error, 2 called in a wrong way.`;

interface Options extends HostOptions {
  readonly by: string;
  readonly days?: number;
  readonly json?: boolean;
  readonly csv?: boolean;
}

export function usageCommand(): Command {
  const command = new Command('usage')
    .description('Show how many tokens were used, and what they cost')
    .addOption(
      new Option('--by <what>', 'what to add up')
        .choices(['day', 'session', 'project', 'agent', 'model'])
        .default('day'),
    )
    .addOption(new Option('--days <number>', 'how many days to show (default: 30)').argParser(wholeNumber))
    .addOption(jsonOption())
    .addOption(new Option('--csv', 'print a table for spreadsheets and nothing else').conflicts('json'))
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium usage --help shows all options)');
  withHostOptions(command);
  return command.action(() => usage(command.opts<Options>()));
}

async function usage({ by, days, json, csv, ...host }: Options): Promise<void> {
  const { usageCsv, usageTable, readReport } = await import('../usage-text.js');
  const params = { by, ...(days !== undefined && { days }) };
  const report = await withClient(host, async (client) =>
    readReport(await callExtension(client, 'atrium/usage', params)),
  );
  if (json) return printJson(report);
  if (csv) return void io().stdout.write(usageCsv(report));
  print(usageTable(report, io().stdout.columns));
}
