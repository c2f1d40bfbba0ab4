/** `atrium pair`: the codes with which providers ask to be let in. */
import type { Client } from '@atrium/client';
import { Command } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions } from '../connect/options.js';
import { withClient } from '../connect/with-client.js';
import { print, printJson, tell } from '../output.js';
import { sessionOption } from './run.js';

const EXAMPLES = `
A provider that comes from outside shows a prompt; type there the code that the session shows. Whoever does not know the
provider says no with --deny.
${HOST_HELP}

Examples:
  $ atrium pair                    the codes that are open now
  $ atrium pair --wait             wait for one
  $ atrium pair --deny             say no to all that ask

Exit codes: 0 done, 1 an error, 2 called in a wrong way, 4 no such session.`;

const LOOK_EVERY_MS = 500;

interface Options extends HostOptions {
  readonly session?: string;
  readonly wait?: boolean;
  readonly deny?: boolean;
  readonly json?: boolean;
}

interface OpenPairing {
  readonly session: string;
  readonly id: string;
  readonly message: string;
  readonly code: string | undefined;
}

export function pairCommand(): Command {
  const command = new Command('pair')
    .description('Show the pairing codes of providers that ask to be let in')
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
  let open = await openPairings(client, options.session);
  if (open.length === 0 && options.wait) tell('Waiting for a provider…');
  while (open.length === 0 && options.wait) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    open = await openPairings(client, options.session);
  }
  if (options.deny) await Promise.all(open.map((each) => deny(client, each)));
  if (options.json) return printJson(open);
  if (open.length === 0) return print('No provider asks to be let in.');
  const { printable } = await import('../text/printable.js');
  for (const { message } of open) print(`${options.deny ? 'Denied: ' : ''}${printable(message)}`);
}

async function openPairings(client: Client, session: string | undefined): Promise<OpenPairing[]> {
  const { lookInto } = await import('../sessions/look.js');
  const states = await lookInto(client, session);
  return states.flatMap(({ summary, inputRequests = [] }) =>
    inputRequests.flatMap(({ id, message = '' }) => {
      if (!id.startsWith('pair-')) return [];
      return [{ session: summary.resource, id, message, code: /(\d{3} \d{3})\D*$/.exec(message)?.[1] }];
    }),
  );
}

async function deny(client: Client, { session, id }: OpenPairing): Promise<void> {
  await client.dispatch(session, { type: 'session/inputCompleted', requestId: id, response: 'decline' });
}
