/** `atrium pair`: the codes of programs that ask to be let in. */
import type { Client } from '@atrium/client';
import { Command } from 'commander';
import { callRaw, withClient } from '../connect/client.js';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions } from '../connect/options.js';
import { print, printJson, tell } from '../io.js';
import { findSession } from '../sessions/find-session.js';
import { sessionOption } from './run.js';

const EXAMPLES = `
A program that wants to plug into a session shows a prompt; type there the code that is shown here. Each session has a code
of its own: this is the one for the session that was used last, or for --session. Whoever does not know the program says
no with --deny.
${HOST_HELP}

Examples:
  $ atrium pair                    the codes that are open now
  $ atrium pair --wait             wait for one
  $ atrium pair --deny             say no to all that ask

Exit codes: 0 done, 1 an error, 2 called in a wrong way, 4 no such session.`;

interface Options extends HostOptions {
  readonly session?: string;
  readonly wait?: boolean;
  readonly deny?: boolean;
  readonly json?: boolean;
}

export function pairCommand(): Command {
  const command = new Command('pair')
    .description('Show the pairing codes of programs that ask to be let in')
    .addOption(sessionOption())
    .option('--wait', 'wait until one asks')
    .option('--deny', 'let none of them in')
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
  if (options.deny) await Promise.all(open.map(({ id }) => callRaw(client, 'atrium/declinePairing', { id })));
  if (options.json) return printJson(open);
  if (open.length === 0) return print('No program asks to be let in.');
  for (const each of open) print(options.deny ? `Denied: ${whoOf(each)}` : pairingWords(each));
}
