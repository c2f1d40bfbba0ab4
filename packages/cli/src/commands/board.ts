/** `atrium board`: the sessions of a project side by side. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';

const EXAMPLES = `
Lists the sessions that work in a Git repository, or in worktrees of it: branch, state, lines added and removed, how the last
tests ended, and the cost. What can be done with their branches: /board in a chat, or the board in the page.
${HOST_HELP}

Examples:
  $ atrium board
  $ atrium board ~/work/shop
  $ atrium board --compare main atrium/0f3c2a1b9d8e
  $ atrium board --json | jq -r '.cards[].branch'

Exit codes: 0 done, 1 an error, 2 called in a wrong way.`;

interface Options extends HostOptions {
  readonly json?: boolean;
  readonly compare?: readonly string[];
}

export function boardCommand(): Command {
  const command = new Command('board')
    .description('Show the sessions of a project side by side')
    .argument('[folder]', 'folder in the repository', '.')
    .option('--compare <branches...>', 'what the second branch changed since it left the first')
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium board --help shows all options)');
  withHostOptions(command);
  return command.action((folder: string) => {
    const options = command.opts<Options>();
    const uri = pathToFileURL(resolve(folder)).href;
    return withClient(options, async (client) => {
      const { showBoard, showComparison } = await import('../sessions/board-command.js');
      if (options.compare) return showComparison(client, uri, options.compare, options.json === true);
      return showBoard(client, uri, options.json === true);
    });
  });
}
