/** `atrium serve`: its options and its help. `serve/settings.ts` decides what they mean together. */

import { Command, InvalidArgumentError, Option } from 'commander';
import { seconds, secondsOrNever } from '../connect/host-options.js';
import { io } from '../io.js';
import { LOG_FORMATS, LOG_LEVELS } from '../log-lines.js';
import { TRUST_TEXT } from './agents.js';

export const DEFAULT_PORT = 9300;
export const DEFAULT_GATEWAY_PORT = 9400;
const PORT_MAX = 65_535;
/** Each client costs the host a connection and a queue; beyond this many, several hosts should share them. */
const MAX_CLIENTS_MAX = 4_096;

const EXAMPLES = `
Most options can also be set in the environment, as shown; the command line wins. ATRIUM_SCRIPT takes several files,
separated as in PATH.

Examples:
  $ atrium serve                                       on this machine, port ${DEFAULT_PORT}
  $ atrium serve --port 0 --quiet                      any free port; prints only READY:<port>
  $ atrium serve --script demo.json                    with a scripted agent
  $ atrium serve --trust .                             this folder may start its providers and servers
  $ atrium serve --detach                              in the background; safe to run twice
  $ atrium serve --stdio                               for one client, on standard input and output
  $ atrium serve --allowed-origins http://localhost:5173
  $ atrium serve --host 0.0.0.0 --connection-token-file ./token --tls-cert chain.pem --tls-key key.pem
  $ atrium serve --behind-proxy 127.0.0.1 --allowed-hosts agents.example

Exit codes: 0 stopped in good order, 1 an error, 2 called in a wrong way, 6 another host has the data folder.`;

const IDLE_TEXT = 'end after this long without clients, turns and providers from outside (30)';
const REST_TEXT = 'end processes of a session this long after its last turn (60); 0: never';
const TOKEN_TEXT = 'a token of your own; others on this machine may see it here, so prefer a file';
const OTLP_TEXT = 'send telemetry to this collector; also from OTEL_EXPORTER_OTLP_ENDPOINT';
const PROXY_TEXT = 'networks whose forwarded headers count, separated by commas: 10.0.0.0/8,fd00::/8';
const INSECURE_TEXT = 'let other machines connect without encryption';
const NOTIFY_TEXT = 'private hosts that notifications may be sent to, separated by commas: ntfy.lan';
const CONTACT_TEXT = 'how push services reach you: mailto:… or https://…';
const CLUSTER_TEXT = 'be one of several hosts on the PostgreSQL of ATRIUM_CLUSTER_URL';
const LINK_TEXT = 'where the other hosts of the cluster reach this one, as name:9500';
const SHARED_TEXT = 'folder that all hosts of the cluster share, for contents, changes and worktrees';
const DRAIN_TEXT = 'how long a stopping host of a cluster waits for turns (600); 0: not at all';
const WORK_TEXT = 'run agents for the active host while this one stands by';
const CLIENTS_TEXT = 'clients at the same time (256); further ones are refused until one leaves';
const GATEWAY_TEXT = 'port for providers; 0 is any free one';

export function serveCommand(): Command {
  const command = new Command('serve')
    .description('Run the host until it is stopped')
    .addOption(
      option('--port <port>', 'port to listen on; 0 is any free one', 'PORT').argParser(port).default(DEFAULT_PORT),
    )
    .addOption(option('--host <name>', 'name or address to listen on', 'HOST').default('localhost'))
    .addOption(
      option('--gateway-port <port>', GATEWAY_TEXT, 'GATEWAY_PORT').argParser(port).default(DEFAULT_GATEWAY_PORT),
    )
    .addOption(option('--no-gateway', 'do not let providers connect', 'NO_GATEWAY'))
    .addOption(option('--no-terminals', 'do not let clients open terminals', 'NO_TERMINALS'))
    .addOption(option('--stdio', 'speak on standard input and output instead of listening', 'STDIO'))
    .addOption(option('--data-dir <folder>', 'folder for all data', 'DATA_DIR'))
    .addOption(new Option('--script <file>', 'scripted agent to offer; may be repeated').argParser(collected))
    .addOption(new Option('--trust <folder>', TRUST_TEXT).argParser(collected))
    .addOption(option('--connection-token <token>', TOKEN_TEXT, 'CONNECTION_TOKEN'))
    .addOption(option('--connection-token-file <file>', 'file with a token of your own', 'CONNECTION_TOKEN_FILE'))
    .addOption(
      option('--without-connection-token', 'let every program on this machine connect', 'WITHOUT_CONNECTION_TOKEN'),
    )
    .addOption(option('--rotate-token', 'make a new token instead of keeping the old one', 'ROTATE_TOKEN'))
    .addOption(option('--allowed-origins <list>', 'web pages that may connect, separated by commas', 'ALLOWED_ORIGINS'))
    .addOption(option('--allowed-hosts <list>', 'further names of this host, separated by commas', 'ALLOWED_HOSTS'))
    .addOption(option('--tls-cert <file>', 'certificate for https and wss, as PEM', 'TLS_CERT'))
    .addOption(option('--tls-key <file>', 'the key of the certificate, as PEM', 'TLS_KEY'))
    .addOption(option('--behind-proxy <networks>', PROXY_TEXT, 'BEHIND_PROXY'))
    .addOption(option('--insecure-remote', INSECURE_TEXT, 'INSECURE_REMOTE'))
    .addOption(option('--notify-hosts <list>', NOTIFY_TEXT, 'NOTIFY_HOSTS'))
    .addOption(option('--notify-contact <address>', CONTACT_TEXT, 'NOTIFY_CONTACT'))
    .addOption(option('--log-level <level>', 'lowest level to log', 'LOG_LEVEL').choices(LOG_LEVELS))
    .addOption(
      option('--log-format <format>', 'log lines for people or programs', 'LOG_FORMAT')
        .choices(LOG_FORMATS)
        .default('text'),
    )
    .addOption(option('--otlp <url>', OTLP_TEXT, 'OTLP'))
    .addOption(
      option('--wire-log <folder>', 'record every message, without secrets, to track down a fault', 'WIRE_LOG'),
    )
    .option('--detach', 'run in the background; print the address, also when a host runs already')
    .addOption(new Option('--exit-when-idle [seconds]', IDLE_TEXT).argParser(seconds))
    .addOption(option('--rest-after <seconds>', REST_TEXT, 'REST_AFTER').argParser(secondsOrNever))
    .addOption(option('--max-clients <number>', CLIENTS_TEXT, 'MAX_CLIENTS').argParser(clients))
    .addOption(option('--cluster', CLUSTER_TEXT, 'CLUSTER'))
    .addOption(option('--host-id <id>', "this host's own id in the cluster; the machine's name", 'HOST_ID'))
    .addOption(option('--link-address <address>', LINK_TEXT, 'LINK_ADDRESS'))
    .addOption(
      option('--cluster-secret-file <file>', 'file with the secret that the hosts share', 'CLUSTER_SECRET_FILE'),
    )
    .addOption(option('--shared-dir <folder>', SHARED_TEXT, 'SHARED_DIR'))
    .addOption(option('--work', WORK_TEXT, 'WORK'))
    .addOption(option('--drain <seconds>', DRAIN_TEXT, 'DRAIN').argParser(secondsOrNever))
    .addOption(option('--quiet', 'print READY:<port> and nothing else', 'QUIET'))
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium serve --help shows all options)');
  forgetUnset(command.options, io().env);
  return command.action(() => serve(command));
}

function option(flags: string, text: string, variable: string): Option {
  return new Option(flags, text).env(`ATRIUM_${variable}`);
}

/**
 * Commander takes every existing variable as set; for people an empty one is not set, and `ATRIUM_QUIET=0` means no.
 */
function forgetUnset(options: readonly Option[], env: NodeJS.ProcessEnv): void {
  for (const { envVar = '', required } of options) {
    const value = env[envVar]?.toLowerCase();
    if (value === '' || (!required && ['0', 'false', 'no', 'off'].includes(value ?? ''))) delete env[envVar];
  }
}

async function serve(command: Command): Promise<void> {
  if (command.opts().detach) return (await import('../service/start-host.js')).detach(command);
  const { readSettings } = await import('../serve/settings.js');
  const { serveUntilStopped } = await import('../serve/run-host.js');
  await serveUntilStopped(await readSettings(command));
}

function port(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= PORT_MAX) return value;
  throw new InvalidArgumentError(`Give a number from 0 to ${PORT_MAX}.`);
}

function clients(text: string): number {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value > 0 && value <= MAX_CLIENTS_MAX) return value;
  throw new InvalidArgumentError(`Give a number from 1 to ${MAX_CLIENTS_MAX}.`);
}

function collected(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
