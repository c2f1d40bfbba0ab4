/** `atrium pair`: the codes of programs that ask to connect. */
import type { Client } from '@atrium/client';
import { Command } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions } from '../connect/host-options.js';
import { callExtension, withClient } from '../connect/with-client.js';
import { print, printJson, tell } from '../io.js';
import { findSession } from '../sessions/find-session.js';
import { sessionOption } from './run.js';

const EXAMPLES = `
A program that wants to connect to a session asks for a code; type the code that is shown here. Each session has its own: this is the one of the session that was used last, or of --session. If you do not know the program, refuse it with --deny.
${HOST_HELP}

Examples:
  $ atrium pair                    the codes that are open now
  $ atrium pair --wait             wait for one
  $ atrium pair --deny             refuse all of them

Exit codes: 0 done, 1 an error, 2 called in a wrong way, 4 no such session.`;

interface Options extends HostOptions {
  readonly session?: string;
  readonly wait?: boolean;
  readonly deny?: boolean;
  readonly json?: boolean;
}

export function pairCommand(): Command {
  const command = new Command('pair')
    .description('Show the pairing codes of programs that ask to connect')
    .addOption(sessionOption())
    .option('--wait', 'wait until one asks')
    .option('--deny', 'refuse all of them')
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium pair --help shows all options)');
  withHostOptions(command);
  return command.action(() => {
    const options = command.opts<Options>();
    return withClient(options, (client) => pair(client, options));
  });
}

async function pair(client: Client, options: Options): Promise<void> {
  const { openPairings, pairingWords, whoOf, LOOK_EVERY_MS } = await import('../pairings.js');
  const session = options.session && findSession(await client.listSessions(), options.session).resource;
  let open = await openPairings(client, session);
  if (open.length === 0 && options.wait) tell('Waiting for a program…');
  while (open.length === 0 && options.wait) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    open = await openPairings(client, session);
  }
  if (options.deny) await Promise.all(open.map(({ id }) => callExtension(client, 'atrium/declinePairing', { id })));
  if (options.json) return printJson(open);
  if (open.length === 0) return print('No program asks to connect.');
  for (const each of open) print(options.deny ? `Denied: ${whoOf(each)}` : pairingWords(each));
}
