/** `atrium reach`: makes the host reachable from a phone, through a tunnel that the machine has. */
import { Command, Option } from 'commander';
import { type HostOptions, jsonOption, wholeNumber } from '../connect/host-options.js';

const HELP = `
Starts a tunnel that is installed here, makes its address one of the host's own, and prints a link and a QR code with which one device comes in. Without a name it takes the first of tailscale, cloudflared and devtunnel that is there. The tunnel ends with the host and with Ctrl+C. The connection token is never in the link.

With ssh, a port of your server leads here. It is reached on that server itself; with --remote-port and --public it stands behind a server there that has TLS and passes requests on to that port, with their Host header.

Examples:
  $ atrium reach
  $ atrium reach tailscale
  $ atrium reach cloudflared --role approver
  $ atrium reach ssh me@server --remote-port 9300 --public https://atrium.example.com

Exit codes: 0 ended with Ctrl+C, 1 an error, or the host or the tunnel has ended, 2 called in a wrong way.`;

export function reachCommand(): Command {
  const command = new Command('reach')
    .description('Let other devices reach the host, through Tailscale, cloudflared, a dev tunnel or ssh')
    .argument('[tool]', 'tailscale, cloudflared, devtunnel or ssh')
    .argument('[destination]', 'for ssh: user@server or user@server:port')
    .option('--public <origin>', 'for ssh: the address that leads to the port there, https://name')
    .addOption(new Option('--remote-port <port>', 'for ssh: the port there (any free one)').argParser(wholeNumber))
    .option('--role <role>', 'role of the device: viewer, approver, driver or owner')
    .option('--name <name>', 'name of the device')
    .addOption(new Option('--data-dir <folder>', 'data folder of the host').env('ATRIUM_DATA_DIR'))
    .option('--no-start', 'do not start a host if none runs')
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .showHelpAfterError('(atrium reach --help shows all options)');
  return command.action(async (tool: string | undefined, destination: string | undefined) => {
    const { reach } = await import('../reach/run-reach.js');
    await reach({ ...command.opts<HostOptions>(), tool, destination });
  });
}
