/** `atrium changes`: changes in the folder of a session, and operations on them. */
import { Command, Option } from 'commander';
import { VIEWS, type ViewName } from '../changes/changeset.js';
import type { ChangesOptions, OperationChoice } from '../changes/command.js';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions, withOwnExamples } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';

const EXAMPLES = `
A session is named by its id, by the beginning of it, or as "last". Without --view: what its last turn changed.
${HOST_HELP}

Examples:
  $ atrium changes                                  the same as: atrium changes list last
  $ atrium changes list last --view uncommitted
  $ atrium changes list --diff | less
  $ atrium changes revert --yes                     what the last turn changed
  $ atrium changes revert 1f2e --view session --file src/app.ts
  $ atrium changes discard --file notes.txt         what is not committed of one file
  $ atrium changes stage && atrium changes commit --message "A first step"
  $ atrium changes unstage --file notes.txt
  $ atrium changes commit --folder lib --message "The other repository"

Exit codes: 0 done, 1 an error, 2 called in a wrong way or nothing to do, 4 no such session, 130 interrupted.`;

type Options = HostOptions & ChangesOptions;

export function changesCommand(): Command {
  const command = new Command('changes')
    .description('Show what agents and people changed, and undo it')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium changes --help shows all commands)');
  const ofGit = (name: string, text: string) => operation(name, text, () => 'uncommitted').addOption(folderOption());
  const parts = [
    operation('revert', 'Take back what the agent changed', ({ view = 'turn' }) => view)
      .addOption(new Option('--view <view>', 'of the last turn, or of the whole session').choices(['turn', 'session']))
      .addOption(fileOption()),
    ofGit('discard', 'Throw away uncommitted changes').addOption(fileOption()),
    ofGit('stage', 'Put changes into the next commit').addOption(fileOption()),
    ofGit('unstage', 'Leave changes out of the next commit').addOption(fileOption()),
    ofGit('commit', 'Commit what is staged, or everything').requiredOption(
      '--message <text>',
      'the message of the commit',
    ),
  ];
  command.addCommand(finished(list()), { isDefault: true });
  for (const each of parts) command.addCommand(finished(each));
  return command;
}

function finished(each: Command): Command {
  return withHostOptions(withOwnExamples(each, 'changes', EXAMPLES))
    .exitOverride()
    .showHelpAfterError(`(atrium changes ${each.name()} --help shows all options)`);
}

function fileOption(): Option {
  return new Option('--file <file>', 'only this file, as the list names it');
}

function folderOption(): Option {
  return new Option('--folder <name>', 'uncommitted changes in this further folder of the session');
}

function list(): Command {
  const command = new Command('list')
    .description('List the changed files')
    .argument('[session]', 'which one', 'last')
    .addOption(new Option('--view <view>', 'which changes').choices(VIEWS))
    .addOption(folderOption())
    .option('--diff', 'line by line, as git prints it')
    .addOption(jsonOption());
  return command.action((session: string) => {
    const options = command.opts<Options>();
    return withClient(options, async (client) => {
      const { listChanges } = await import('../changes/command.js');
      return listChanges(client, session, options);
    });
  });
}

function operation(operationId: string, text: string, viewOf: (options: Options) => ViewName): Command {
  const command = new Command(operationId)
    .description(text)
    .argument('[session]', 'which one', 'last')
    .option('--yes', 'do not ask')
    .addOption(jsonOption());
  return command.action((session: string) => {
    const options = command.opts<Options>();
    const wish: OperationChoice = { operationId, view: viewOf(options) };
    return withClient(options, async (client) => {
      const { runOperation } = await import('../changes/command.js');
      return runOperation(client, session, wish, options);
    });
  });
}
