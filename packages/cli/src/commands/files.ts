/** `atrium files`: files of the host's machine, read and written through it. */
import { Command, Option } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions, withOwnExamples } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';
import type { FilesOptions } from '../host-files.js';

const EXAMPLES = `
Names are paths on the machine of the host. With --session they are within the folder of that session; without it, within
this folder. A host lets clients into the folders of its sessions and nowhere else.
${HOST_HELP}

Examples:
  $ atrium files list --session last
  $ atrium files read --session last src/app.ts
  $ echo hello | atrium files write --session last notes.txt
  $ atrium files write --append log.txt < more.txt

Exit codes: 0 done, 1 an error, 2 called in a wrong way, 4 no such session, 5 the host does not allow access.`;

type Options = HostOptions & FilesOptions;

export function filesCommand(): Command {
  const command = new Command('files')
    .description('List, read and write files through the host')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium files --help shows all commands)');
  for (const each of [list(), read(), write()]) {
    each.addOption(new Option('--session <session>', 'within the folder of this session')).addOption(jsonOption());
    withHostOptions(each).exitOverride().showHelpAfterError(`(atrium files ${each.name()} --help shows all options)`);
    command.addCommand(withOwnExamples(each, 'files', EXAMPLES));
  }
  return command;
}

function list(): Command {
  const command = new Command('list').description('List a folder').argument('[folder]', 'which one', '.');
  return command.action((name: string) => {
    const options = command.opts<Options>();
    return withClient(options, async (client) => (await import('../host-files.js')).list(client, name, options));
  });
}

function read(): Command {
  const command = new Command('read').description('Print a file').argument('<file>', 'which one');
  return command.action((name: string) => {
    const options = command.opts<Options>();
    return withClient(options, async (client) => (await import('../host-files.js')).read(client, name, options));
  });
}

function write(): Command {
  const command = new Command('write')
    .description('Write standard input to a file')
    .argument('<file>', 'which one; its content is replaced')
    .addOption(new Option('--append', 'add to its end instead').conflicts('create'))
    .option('--create', 'fail if the file exists');
  return command.action((name: string) => {
    const options = command.opts<Options>();
    return withClient(options, async (client) => (await import('../host-files.js')).write(client, name, options));
  });
}
