/** `atrium rewind`: goes back to a message of a session. */
import { Command, Option } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';
import { UsageError } from '../exit.js';
import type { RewindChoice } from '../sessions/rewind-command.js';

const EXAMPLES = `
Takes back a message, with everything behind it: the conversation, what the agent changed in files, or both. Shows first
what would change, and asks. Your own edits are kept and listed. The turns that are taken out are kept in a fork.
A session is named by its id, by the beginning of it, or as "last". A turn is named by its number, counted from 1, as
"last", or by its id.
${HOST_HELP}

Examples:
  $ atrium rewind last last --dry-run        what would happen
  $ atrium rewind last 3                     to before the third message, after a yes
  $ atrium rewind 1f2e 3 --files --yes
  $ atrium rewind last --undo                takes the last rewind back, until the next message

Exit codes: 0 done, 1 an error, 2 called in a wrong way or not agreed to, 4 no such session, 130 interrupted.`;

export interface RewindOptions extends HostOptions, RewindChoice {}

export function rewindCommand(): Command {
  const command = new Command('rewind')
    .description('Go back to a message: conversation, files, or both')
    .argument('<session>', 'which one')
    .argument('[turn]', 'its number, "last", or its id')
    .addOption(new Option('--files', 'only the files that the agent changed').conflicts('conversation'))
    .option('--conversation', 'only the conversation')
    .option('--chat <chat>', 'in this further chat of the session, by its URI')
    .option('--dry-run', 'only show what would change')
    .addOption(new Option('--undo', 'undo the last rewind').conflicts(['files', 'conversation', 'dryRun']))
    .option('--yes', 'do not ask')
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium rewind --help shows all options)');
  withHostOptions(command);
  return command.action((session: string, turn: string | undefined) => {
    const options = command.opts<RewindOptions>();
    if (turn === undefined && !options.undo)
      throw new UsageError('name the turn to go back to: atrium rewind last last');
    return withClient(options, async (client) => {
      const { rewindSession } = await import('../sessions/rewind-command.js');
      return rewindSession(client, { session, turn }, options);
    });
  });
}
