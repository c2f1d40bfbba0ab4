/** `atrium call`: any request of the protocol, for scripts and for looking around. */

import { Command } from 'commander';
import { HOST_HELP, type HostOptions, withHostOptions } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';
import { UsageError } from '../exit.js';
import { io } from '../io.js';

const EXAMPLES = `
The answer is printed as JSON. Requests to the root need no "channel".
${HOST_HELP}

Examples:
  $ atrium call listSessions
  $ atrium call resolveSessionConfig '{"workingDirectory": "file:///srv/app"}'
  $ atrium call createSession '{"channel": "ahp-session:/mine", "provider": "offline"}'
  $ atrium call atrium/restoreSession '{"channel": "ahp-session:/1f2e"}'

Exit codes: 0 answered, 1 refused, 2 called in a wrong way, 3 no answer, 4 no such session, 5 not allowed.`;

export function callCommand(): Command {
  const command = new Command('call')
    .description('Send one request of the protocol and print the answer')
    .argument('<method>', 'its name')
    .argument('[params]', 'its parameters, as JSON', '{}')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium call --help shows examples)');
  withHostOptions(command);
  return command.action((method: string, params: string) => call(method, params, command.opts<HostOptions>()));
}

async function call(method: string, text: string, options: HostOptions): Promise<void> {
  const params = parsed(text);
  const result = await withClient(options, (client) => client.requestExtension(method, params));
  io().stdout.write(`${JSON.stringify(result ?? null, null, io().stdout.isTTY ? 2 : 0)}\n`);
}

function parsed(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError(`the parameters are not JSON: ${text}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new UsageError('the parameters must be a JSON object');
}
