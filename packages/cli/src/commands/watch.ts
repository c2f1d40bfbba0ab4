/** `atrium watch`: what happens, as it happens. */
import { Command } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';

const EXAMPLES = `
Without a session, all sessions are watched: one line whenever one comes, changes or goes.
With --json, each line is an action of the protocol as the host sent it, or an entry of the list.
${HOST_HELP}

Examples:
  $ atrium watch                   which sessions work, ask or fail
  $ atrium watch last              what is said and done in the newest one
  $ atrium watch last --json | jq .action.type

It runs until Ctrl+C, or until the session is removed.
Exit codes: 0 the session was removed, 1 an error, 2 called in a wrong way, 4 no such session, 130 interrupted.`;

export function watchCommand(): Command {
  const command = new Command('watch')
    .description('Follow a session, or all of them')
    .argument('[session]', 'which one')
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium watch --help shows all options)');
  withHostOptions(command);
  return command.action((session: string | undefined) => {
    const options = command.opts<HostOptions & { json?: boolean }>();
    return withClient(options, async (client) => {
      const { watchAll, watchOne } = await import('../sessions/follow.js');
      const isJson = options.json ?? false;
      return session === undefined ? watchAll(client, isJson) : watchOne(client, session, isJson);
    });
  });
}
