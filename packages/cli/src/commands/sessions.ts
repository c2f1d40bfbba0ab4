/** `atrium sessions`: lists, shows, exports, imports, removes and restores sessions. */

import { Command, Option } from 'commander';
import {
  HOST_HELP,
  type HostOptions,
  jsonOption,
  wholeNumber,
  withHostOptions,
  withOwnExamples,
} from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';
import { io, print, printJson, tell } from '../io.js';

const EXAMPLES = `
A session is named by its id, by the beginning of it, or as "last".
${HOST_HELP}

Examples:
  $ atrium sessions list
  $ atrium sessions show last
  $ atrium sessions show last --full
  $ atrium sessions show last --chat 2
  $ atrium sessions export last session.jsonl
  $ atrium sessions import session.jsonl
  $ atrium sessions rm 1f2e
  $ atrium sessions list --archived
  $ atrium sessions list --removed
  $ atrium sessions restore 1f2e

Exit codes: 0 done, 1 an error, 2 called in a wrong way, 4 no such session.`;

interface Options extends HostOptions {
  readonly json?: boolean;
  readonly turns?: number;
  readonly agent?: string;
  readonly removed?: boolean;
  readonly archived?: boolean;
}

export function sessionsCommand(): Command {
  const command = new Command('sessions')
    .description('List, show, export, import, remove and restore sessions')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium sessions --help shows all commands)');
  for (const each of [list(), show(), exportOne(), importOne(), remove(), restore()]) {
    withHostOptions(each)
      .exitOverride()
      .showHelpAfterError(`(atrium sessions ${each.name()} --help shows all options)`);
    command.addCommand(withOwnExamples(each, 'sessions', EXAMPLES));
  }
  return command;
}

function list(): Command {
  const command = new Command('list')
    .description('List all sessions, the newest first')
    .option('--archived', 'include archived sessions')
    .option('--removed', 'list removed sessions that can be restored')
    .addOption(jsonOption());
  return command.action(async () => {
    const options = command.opts<Options>();
    if (options.removed) return listRemoved(options);
    const { newestFirst } = await import('../sessions/find-session.js');
    const items = await withClient(options, async (client) => newestFirst(await client.listSessions()));
    if (options.json) return printJson(items);
    if (items.length === 0) return print('There are no sessions. Begin one with: atrium chat');
    const { isArchived, sessionRow } = await import('../sessions/summary-text.js');
    const { table } = await import('../text/table.js');
    const shown = options.archived ? items : items.filter((item) => !isArchived(item));
    const rows = shown.map((summary) => sessionRow(summary, Date.now()));
    const head = ['ID', 'STATE', 'CHANGED', 'AGENT', 'TITLE', 'FOLDER'];
    if (rows.length > 0) print(table([head, ...rows], io().stdout.columns));
    const hidden = items.length - shown.length;
    if (hidden > 0)
      tell(
        `${hidden} archived ${hidden === 1 ? 'session is' : 'sessions are'} not shown: atrium sessions list --archived`,
      );
  });
}

async function listRemoved(options: Options): Promise<void> {
  const { removedRow, removedSessions } = await import('../sessions/find-session.js');
  const items = await withClient(options, removedSessions);
  if (options.json) return printJson(items);
  if (items.length === 0) return print('No removed sessions are kept.');
  const { table } = await import('../text/table.js');
  const rows = items.map((item) => removedRow(item, Date.now()));
  print(table([['ID', 'REMOVED', 'AGENT', 'TITLE', 'FOLDER'], ...rows], io().stdout.columns));
}

function show(): Command {
  const command = new Command('show')
    .description('Show the conversation of a session')
    .argument('[session]', 'which one', 'last')
    .addOption(jsonOption())
    .addOption(new Option('--turns <count>', 'only the newest turns').argParser(wholeNumber))
    .option('--full', 'show all output of tools, not only the end')
    .option('--chat <chat>', 'another chat than the first: its number, or a part of its title');
  return command.action((session: string) => {
    const options = command.opts<Options>();
    return withClient(options, async (client) => (await import('../sessions/show.js')).show(client, session, options));
  });
}

function exportOne(): Command {
  const command = new Command('export')
    .description('Write a session to one file (JSON Lines), or to standard output')
    .argument('<session>', 'which one')
    .argument('[file]', 'file to write; it must not exist yet');
  return command.action((session: string, file: string | undefined) =>
    withClient(command.opts<Options>(), async (client) => {
      const { exportTo } = await import('../sessions/transfer.js');
      return exportTo(client, session, file);
    }),
  );
}

function importOne(): Command {
  const command = new Command('import')
    .description('Make a new session from an exported file')
    .argument('<file>', 'the file; "-" is standard input')
    .addOption(new Option('--agent <id>', 'agent that continues the session if this host lacks the one of the file'))
    .addOption(jsonOption());
  return command.action((file: string) =>
    withClient(command.opts<Options>(), async (client) => {
      const { importFrom } = await import('../sessions/transfer.js');
      return importFrom(client, file, command.opts<Options>());
    }),
  );
}

function remove(): Command {
  const command = new Command('rm')
    .description('Take sessions off the list; they can be restored for 30 days')
    .argument('<session...>', 'which ones')
    .addOption(jsonOption());
  return command.action((names: string[]) => {
    const options = command.opts<Options>();
    return withClient(options, async (client) => {
      const { findSession, idOf } = await import('../sessions/find-session.js');
      const items = await client.listSessions();
      const found = names.map((name) => findSession(items, name).resource);
      for (const uri of new Set(found)) {
        await client.disposeSession(uri);
        if (options.json) printJson({ session: uri });
        else print(`Removed. To bring it back: atrium sessions restore ${idOf(uri)}`);
      }
    });
  });
}

function restore(): Command {
  const command = new Command('restore')
    .description('Bring a removed session back')
    .argument('<session>', 'its id, or the beginning of it')
    .addOption(jsonOption());
  return command.action((name: string) => {
    const options = command.opts<Options>();
    return withClient(options, async (client) => {
      const { findRemoved } = await import('../sessions/find-session.js');
      const { callExtension } = await import('../connect/with-client.js');
      const uri = await findRemoved(client, name);
      await callExtension(client, 'atrium/restoreSession', { channel: uri });
      if (options.json) printJson({ session: uri });
      else print('It is on the list again.');
    });
  });
}
