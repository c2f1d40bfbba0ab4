/** `atrium terminals`: shells that run in the host, attached or not. */

import { Command } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions, withOwnExamples } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';
import { io, print, printJson, tell } from '../io.js';

const EXAMPLES = `
A terminal is named by its id, by the beginning of it, or as "last". Ctrl+] leaves it; it goes on.
${HOST_HELP}

Examples:
  $ atrium terminals new                 a shell in this folder, and into it
  $ atrium terminals list
  $ atrium terminals attach last         back into it, from anywhere
  $ atrium terminals rm last

Exit codes: 0 done, 1 an error or no such terminal, 2 called in a wrong way.`;

interface Options extends HostOptions {
  readonly json?: boolean;
  readonly name?: string;
}

export function terminalsCommand(): Command {
  const command = new Command('terminals')
    .description('Open, enter, list and end shells that live in the host')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium terminals --help shows all commands)');
  for (const each of [list(), open(), attach(), remove()]) {
    withHostOptions(each)
      .exitOverride()
      .showHelpAfterError(`(atrium terminals ${each.name()} --help shows all options)`);
    command.addCommand(withOwnExamples(each, 'terminals', EXAMPLES));
  }
  return command;
}

function list(): Command {
  const command = new Command('list').description('List all terminals').addOption(jsonOption());
  return command.action(() => {
    const options = command.opts<Options>();
    return withClient(options, async (client) => {
      const { terminalRow, terminalsOf } = await import('../terminals/host-terminals.js');
      const terminals = await terminalsOf(client);
      if (options.json) return printJson(terminals);
      if (terminals.length === 0) return print('There are no terminals. Open one with: atrium terminals new');
      const { table } = await import('../text/table.js');
      print(table([['ID', 'STATE', 'OWNER', 'TITLE'], ...terminals.map(terminalRow)], io().stdout.columns));
    });
  });
}

function open(): Command {
  const command = new Command('new')
    .description('Open a shell in this folder, and enter it')
    .option('--name <name>', 'its name');
  return command.action(() =>
    withClient(command.opts<Options>(), async (client) => {
      const { attachTo, checkTerminal } = await import('../terminals/attach.js');
      const { openTerminal } = await import('../terminals/host-terminals.js');
      checkTerminal();
      await attachTo(client, await openTerminal(client, command.opts<Options>().name));
    }),
  );
}

function attach(): Command {
  const command = new Command('attach').description('Enter a terminal').argument('[terminal]', 'which one', 'last');
  return command.action((reference: string) =>
    withClient(command.opts<Options>(), async (client) => {
      const { attachTo, checkTerminal } = await import('../terminals/attach.js');
      const { findTerminal, terminalsOf } = await import('../terminals/host-terminals.js');
      checkTerminal();
      await attachTo(client, findTerminal(await terminalsOf(client), reference).resource);
    }),
  );
}

function remove(): Command {
  const command = new Command('rm')
    .description('End a terminal and everything that runs in it')
    .argument('<terminal>', 'which one');
  return command.action((reference: string) =>
    withClient(command.opts<Options>(), async (client) => {
      const { findTerminal, terminalsOf } = await import('../terminals/host-terminals.js');
      const { resource, title } = findTerminal(await terminalsOf(client), reference);
      await client.request('disposeTerminal', { channel: resource });
      tell(`Ended ${title}.`);
    }),
  );
}
