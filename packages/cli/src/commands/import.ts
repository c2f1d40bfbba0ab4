/** `atrium import`: imports sessions of other programs on this machine. Their files do not change. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Client, type CreationProgress, RequestError } from '@atrium/client';
import { Argument, Command, Option } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, wholeNumber, withHostOptions } from '../connect/host-options.js';
import { callExtension, withClient } from '../connect/with-client.js';
import { io, print, printJson, tell } from '../io.js';

const HELP = `
Finds the sessions of Claude Code, Codex and opencode on the machine of the host, and makes sessions of them
that can be read, searched and continued here. What was imported before is skipped. The files of those
programs are only read.
${HOST_HELP}

Examples:
  $ atrium import --dry-run              what there is
  $ atrium import                        all of it
  $ atrium import claude --folder .      what Claude Code did in this folder
  $ atrium import codex --newest 10

Exit codes: 0 done, 1 some could not be imported, 2 called in a wrong way.`;

interface Options extends HostOptions {
  readonly json?: boolean;
  readonly dryRun?: boolean;
  readonly folder?: string;
  readonly newest?: number;
  readonly agent?: string;
}

/** An import with fewer parts is over before anybody could read its progress. */
const PAGES_SHOWN_FROM = 10;

/** A session as the host lists it. */
interface Found {
  readonly program: string;
  readonly programName: string;
  readonly id: string;
  readonly title: string;
  readonly folder?: string;
  readonly modifiedAt: string;
  /** The session of an earlier import. */
  readonly session?: string;
}

export function importCommand(): Command {
  const command = withHostOptions(new Command('import'))
    .description('Import sessions of Claude Code, Codex and opencode')
    .addArgument(new Argument('[program]', 'only sessions of this program').choices(['claude', 'codex', 'opencode']))
    .option('--dry-run', 'only list what would be imported')
    .option('--folder <folder>', 'only sessions that worked in this folder or below it')
    .addOption(new Option('--newest <count>', 'only this many of the newest').argParser(wholeNumber))
    .option('--agent <id>', 'agent that continues them')
    .addOption(jsonOption())
    .addHelpText('after', HELP);
  return command.action((program: string | undefined) =>
    withClient(command.opts<Options>(), (client) => importAll(client, program, command.opts<Options>())),
  );
}

async function importAll(client: Client, program: string | undefined, options: Options): Promise<void> {
  const answer = await callExtension(client, 'atrium/findImports', { ...(program !== undefined && { program }) });
  const found = (answer as { items: readonly Found[] }).items.filter((each) => isIn(each, options.folder));
  const fresh = found.filter(({ session }) => session === undefined).slice(0, options.newest);
  if (options.dryRun) return list(fresh, found.length, options);
  if (fresh.length === 0) {
    if (options.json) return printJson({ imported: [], failed: [] });
    return print(found.length === 0 ? 'No sessions of other programs were found.' : 'All of them are here already.');
  }
  const imported: unknown[] = [];
  const failed: unknown[] = [];
  for (const [index, each] of fresh.entries()) {
    if (io().stderr.isTTY) tell(`${index + 1} of ${fresh.length}: ${each.title}`);
    const onProgress = ({ done, total = 0 }: CreationProgress) => {
      if (io().stderr.isTTY && total > PAGES_SHOWN_FROM) tell(`  ${done} of ${total} parts`);
    };
    try {
      const { program: from, id } = each;
      const params = { program: from, id, ...(options.agent !== undefined && { agent: options.agent }) };
      imported.push({
        program: from,
        id,
        ...((await client.requestLong('atrium/importFound', params, { onProgress })) as object),
      });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      failed.push({ program: each.program, id: each.id, error: error.message });
      tell(`${each.programName}, ${each.title}: ${error.message}`);
    }
  }
  if (options.json) printJson({ imported, failed });
  else {
    const count = imported.length;
    print(`Imported ${count} ${count === 1 ? 'session' : 'sessions'}. To see them: atrium sessions list`);
    const lines = imported.reduce((sum: number, each) => sum + Number((each as { unreadable?: number }).unreadable), 0);
    if (lines > 0) tell(`${lines} damaged ${lines === 1 ? 'line was' : 'lines were'} left out.`);
  }
  if (failed.length > 0) throw new Error(`${failed.length} of ${fresh.length} could not be imported`);
}

function isIn({ folder }: Found, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const within = pathToFileURL(wanted).href.replace(/\/$/, '');
  return folder === within || folder?.startsWith(`${within}/`) === true;
}

async function list(fresh: readonly Found[], found: number, options: Options): Promise<void> {
  if (options.json) return printJson(fresh);
  if (fresh.length === 0)
    return print(found === 0 ? 'No sessions of other programs were found.' : 'All of them are here already.');
  const { table } = await import('../text/table.js');
  const rows = fresh.map(({ programName, modifiedAt, title, folder }) => [
    ...[programName, modifiedAt.slice(0, 10), title],
    folder === undefined ? '' : fileURLToPath(folder),
  ]);
  print(table([['PROGRAM', 'CHANGED', 'TITLE', 'FOLDER'], ...rows], io().stdout.columns));
  tell(`${fresh.length} would be imported${found > fresh.length ? `, ${found - fresh.length} not` : ''}.`);
}
