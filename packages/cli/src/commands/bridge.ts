/** `atrium bridge`: a host on standard input and output, for `ssh://` addresses of another machine. */
import { Command } from 'commander';
import { HOST_HELP, type HostOptions, withHostOptions } from '../connect/host-options.js';

const EXAMPLES = `
One JSON message of the Agent Host Protocol in each line, behind a first line that says that it is there. \`atrium attach ssh://user@host\` runs this on the other machine.
${HOST_HELP}

Examples:
  $ ssh user@host atrium bridge

Exit codes: 0 the connection has ended, 1 an error, 2 called in a wrong way, 5 the host did not let us in.`;

export function bridgeCommand(): Command {
  const command = new Command('bridge')
    .description('Connect standard input and output with the host, for ssh')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium bridge --help shows all options)');
  withHostOptions(command);
  return command.action(async () => {
    const { bridge } = await import('../connect/bridge.js');
    await bridge(command.opts<HostOptions>());
  });
}
